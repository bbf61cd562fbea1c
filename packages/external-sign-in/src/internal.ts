/** What the server uses of this package. They are released together: these names change without a major version. */
export { externalSignInOptions } from './options.ts';
export { presets } from './presets.ts';
export { parseReturnPath } from './return-path.ts';
