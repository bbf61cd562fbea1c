import { defaultsOf } from '../validation/option.ts';
import { type EndpointAuthenticationOptions, endpointAuthenticationOptions } from './authentication-options.ts';
import type { ParameterSource } from './endpoint.ts';
import type { DocumentFormat } from './row-formats.ts';
import { type EndpointFormOptions, endpointFormOptions } from './form-options.ts';
import type { EndpointUploadOptions } from './upload-option.ts';

/** The options that shape endpoints. `endpointDefaults` has the defaults. */
export interface EndpointOptions extends EndpointFormOptions {
  /** The names of the connections that comments may select. */
  readonly connectionNames: readonly string[];
  readonly authentication: EndpointAuthenticationOptions;
  /** The upload handlers that comments can select. Null: uploads are disabled. */
  readonly uploads: EndpointUploadOptions | null;
  readonly rateLimits: EndpointRateLimitOptions;
  /** The formats of rows that packages add. */
  readonly rowFormats: readonly DocumentFormat[] | null;
}

/** The rate limits that comments can select. */
export interface EndpointRateLimitOptions {
  /** The policies by name. */
  readonly policies: Readonly<Record<string, object>>;
  /** The policy of endpoints whose comment names none; null: they have no rate limit. */
  readonly defaultPolicy: string | null;
}

/** The parameter sources of the values of `defaultRequestParamType`. */
export const parameterSources: Readonly<Record<'queryString' | 'bodyJson', ParameterSource>> = {
  queryString: 'query',
  bodyJson: 'body',
};

export const endpointDefaults: EndpointOptions = Object.freeze({
  ...defaultsOf(endpointFormOptions),
  connectionNames: [],
  authentication: defaultsOf(endpointAuthenticationOptions),
  uploads: null,
  rateLimits: { policies: {}, defaultPolicy: null },
  rowFormats: null,
});
