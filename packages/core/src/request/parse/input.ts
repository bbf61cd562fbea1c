import type { JsonSlice } from '../../http/json-reader.ts';

/** What the client has sent, by key, before anyone asks whether the endpoint knows it. */
export type Given =
  | {
      readonly source: 'query';
      readonly values: ReadonlyMap<string, readonly string[]>;
      /** The body as it is, for the parameter that takes it; null when there is none. */
      readonly body: string | null;
    }
  | { readonly source: 'body'; readonly values: ReadonlyMap<string, JsonSlice> };
