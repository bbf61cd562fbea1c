/** What the other packages of pgway use of this one. They are released together: these names change without a major version. */
export { type DerivedRequestOptions, deriveRequest } from './adapters/derived-request.ts';
export { trustedAddresses } from './adapters/forwarded.ts';
export { requestId } from './adapters/request-id.ts';
export { allowBufferReuse } from './adapters/response-output.ts';
export {
  createTextEncryption,
  type TextEncryption,
  type TextEncryptionOptions,
} from './auth-schemes/keys/text-encryption.ts';
export { tokenAlgorithms } from './auth-schemes/keys/token-algorithm.ts';
export { MessageChunker, probeTopic } from './broadcast/message-chunker.ts';
export { TopicListeners } from './broadcast/topic-listeners.ts';
export { display } from './endpoints/diagnostic.ts';
export { fieldErrorCodes } from './endpoints/endpoint.ts';
export { groupBy } from './endpoints/group-by.ts';
export { negotiatesLargeNumbers, withLargeNumberTexts } from './endpoints/large-numbers.ts';
export { endpointDefaults } from './endpoints/options.ts';
export { type Preset as ExternalSignInPreset, presets as externalSignInPresets } from './external-sign-in/presets.ts';
export { parseReturnPath } from './external-sign-in/return-path.ts';
export { type BatchCommand, type BatchCommandOptions, openBatchCommand } from './gateway/batch-command.ts';
export { configuredPoolSize } from './gateway/connections.ts';
export { toGatewayRequest } from './gateway/host-authentication.ts';
export { runStatements } from './gateway/run-statements.ts';
export type { SingleConnectionOptions } from './gateway/single-connection.ts';
export { compileHostPattern, type HostMatcher } from './gateway/tenants/tenant-name.ts';
export { clientNetwork } from './http/client-network.ts';
export { logObserver } from './logging/log-observer.ts';
export { arrayLiteral, recordLiteral } from './postgres/literal.ts';
export { DatabaseError } from './postgres/port.ts';
export { segmentsPerWindow } from './rate-limits/sliding-window.ts';
export { checkRowCommand, RowCommands } from './uploads/row-commands.ts';
export { isStorageFull } from './uploads/storage-error.ts';
export { nearestName } from './validation/suggestion.ts';
export {
  arrayOf,
  boolean,
  nullable,
  number,
  nonEmptyString,
  objectWithMethods,
  oneOf,
  optionGroup,
  type OptionValidators,
  recordOf,
  secret,
  string,
  type Validator,
} from './validation/validators.ts';
