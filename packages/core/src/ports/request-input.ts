import type { JsonSlice } from '../http/json-slice.ts';

/** The client's values by key, not yet compared with the endpoint's parameters. */
export type RequestInput =
  | {
      readonly source: 'query';
      readonly values: ReadonlyMap<string, readonly string[]>;
      /** The text of the body, for the parameter or the dialect that takes it; null without one. */
      readonly body: string | null;
      /** The text of the form in the body that has the values; absent: they are those of the query string. */
      readonly form?: string;
    }
  | {
      readonly source: 'body';
      readonly values: ReadonlyMap<string, JsonSlice>;
      /** The rows of a body that is an array, in place of the values; absent: it is an object. */
      readonly rows?: readonly ReadonlyMap<string, JsonSlice>[];
      /** Whether strings are the text of values, as in a query string; absent: JSON strings. */
      readonly hasTexts?: boolean;
      /** The id of the endpoint that a dialect has selected; absent: the keys select it. */
      readonly selected?: string;
    };
