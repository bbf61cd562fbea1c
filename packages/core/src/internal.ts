/** What the other packages of pgway use of this one. They are released together: these names change without a major version. */
export { type DerivedRequestOptions, deriveRequest } from './adapters/derived-request.ts';
export { trustedAddresses } from './adapters/forwarded.ts';
export { peerAddress } from './adapters/node.ts';
export { requestId } from './adapters/request-id.ts';
export { allowBufferReuse } from './adapters/response-output.ts';
export { type ControlColumnNames, controlColumnsOf } from './auth-schemes/challenge.ts';
export { type CommandRow, rowCommand } from './auth-schemes/command-row.ts';
export type { CommandRunner } from './auth-schemes/command-runner.ts';
export {
  createTextEncryption,
  type TextEncryption,
  type TextEncryptionOptions,
} from './auth-schemes/keys/text-encryption.ts';
export { fetchFailure } from './auth-schemes/fetch-failure.ts';
export { isStorable } from './auth-schemes/storable.ts';
export { type AccessControl, authorize, signInRoute } from './auth/authorize.ts';
export { withCallerHeaders } from './auth/caller-headers.ts';
export { firstClaim } from './auth/claims.ts';
export { jwtClaims } from './auth/jwt-claims.ts';
export type { LoginOptions } from './auth/login-options.ts';
export { type LoginResult, loginStatus, refuseLogin, startSession } from './auth/login-result.ts';
export { logout } from './auth/logout.ts';
export { catalogFingerprintSql } from './catalog/catalog-fingerprint.sql.ts';
export { MessageChunker, probeTopic } from './broadcast/message-chunker.ts';
export { TopicListeners } from './broadcast/topic-listeners.ts';
export { Limiter } from './changes/limiter.ts';
export { display, summarizeDiagnostics } from './endpoints/diagnostic.ts';
export { fieldErrorCodes } from './endpoints/endpoint.ts';
export { createTypeConverter } from './endpoints/named-type.ts';
export { groupBy } from './endpoints/group-by.ts';
export { buildCall, buildSelectList, findMissingArgument } from './endpoints/statement.ts';
export { negotiatesLargeNumbers, withLargeNumberTexts } from './endpoints/large-numbers.ts';
export { endpointDefaults } from './endpoints/options.ts';
export { openChangeFeed } from './gateway/open-changes.ts';
export { type BatchCommand, type BatchCommandOptions, openBatchCommand } from './gateway/batch-command.ts';
export { type RealtimeAccess, type RealtimeCaller, realtimeAccess } from './gateway/realtime-access.ts';
export { configuredPoolSize } from './gateway/connections.ts';
export { toGatewayRequest } from './gateway/host-authentication.ts';
export { runStatements } from './gateway/run-statements.ts';
export type { SingleConnectionOptions } from './gateway/single-connection.ts';
export { compileHostPattern, type HostMatcher } from './gateway/tenants/tenant-name.ts';
export { clientNetwork } from './http/client-network.ts';
export { escapeHtml } from './http/escape-html.ts';
export { JsonError, readJson, truncateKey } from './http/json-reader.ts';
export { documentSlice, type JsonSlice, readElements, readMembers, sliceToJson } from './http/json-slice.ts';
export { toPointer } from './http/json-pointer.ts';
export { queryMethod, requestMethods } from './http/methods.ts';
export { takesQuery } from './endpoints/query-method.ts';
export { nosniffHeader } from './http/response.ts';
export { parseQueryString } from './http/query-string.ts';
export { createRouter } from './request/router.ts';
export { logObserver } from './logging/log-observer.ts';
export type {
  ChangeEnd,
  ChangeFeed,
  ChangeGapReason,
  ChangeIdentity,
  ChangeListener,
  ChangeMessage,
  ChangeQuery,
  ChangeRequest,
  ChangeStatistics,
  ChangeSubscription,
  RowChange,
  TableReport,
} from './ports/changes.ts';
export {
  type DescribedColumn,
  type DescribedContent,
  type DescribedMember,
  type DescribedOperation,
  describedOperation,
  type DescribedParameter,
  type DescribedRelation,
  type DescribedResponse,
  type DescribedTable,
  describedTables,
  type DescribedToolCall,
  type DescribedValue,
  type DialectDescriber,
} from './ports/dialect-description.ts';
export { earlierIndex } from './ports/earlier-statements.ts';
export { errorToLoginOutcome } from './ports/ports.ts';
export { arrayLiteral, recordLiteral } from './postgres/literal.ts';
export { clientShare, DatabaseError, type Diagnostics, LocatedError, type Step } from './postgres/port.ts';
export { segmentsPerWindow } from './rate-limits/sliding-window.ts';
export { parseBoolean } from './endpoints/comment/lexer.ts';
export { checkRowCommand, RowCommands, rowCommandTypes } from './uploads/row-commands.ts';
export { isStorageFull } from './uploads/storage-error.ts';
export { editDistance, nearestName } from './validation/suggestion.ts';
export {
  type Check,
  defaultsOf,
  type Option,
  optionalOption,
  option,
  optionGroup,
  type OptionGroup,
  type OptionTable,
  requiredOption,
  type Resolved,
  withDefaults,
} from './validation/option.ts';
export { describeFault, describeFaults, type Fault, formatPath, type Path, withoutValue } from './validation/fault.ts';
export type { Schema } from './validation/schema.ts';
export {
  arrayOf,
  boolean,
  boundedText,
  checked,
  hidden,
  implementation,
  integer,
  jsonObject,
  mapOf,
  matching,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  recordOf,
  secret,
  string,
  union,
  type Validator,
} from './validation/validators.ts';
export { readClaims } from './auth-schemes/jwt-claims.ts';
export { selectRole } from './auth/context.ts';
export { commentOptions } from './uploads/comment-options.ts';
export {
  bearerOptions,
  cookieOptions,
  hashRateLimitOptions,
  jwksOptions,
  jwtOptions,
  loginRateLimitOptions,
} from './auth-schemes/options.ts';
export { filterValues } from './catalog/filters.sql.ts';
export { readFingerprint } from './catalog/fingerprint.ts';
export { parseJsonObject, readArray, readBoolean, readText, readTextOrNull } from './catalog/json-object.ts';
export { queryCatalog } from './catalog/query-catalog.ts';
export { displayIdentifier, quoteIdentifier, quoteLiteral } from './catalog/quote.ts';
export { filterOptions } from './catalog/options.ts';
export { tableOperations } from './catalog/table.ts';
export { endpointFormOptions } from './endpoints/form-options.ts';
export {
  authenticationOptions,
  basicOptions,
  databaseRoleOptions,
  dataProtectionOptions,
  sessionOptions,
} from './gateway/options/authentication-options.ts';
export { batchOptions } from './gateway/options/batch-options.ts';
export { cacheOptions } from './gateway/options/cache-options.ts';
export { connectionOptions } from './gateway/options/connection-options.ts';
export { eventsOptions } from './gateway/options/event-options.ts';
export { generalOptions } from './gateway/options/general-options.ts';
export { changesOptions } from './gateway/options/changes-options.ts';
export { idempotencyOptions } from './gateway/options/idempotency-options.ts';
export { rateLimitsOptions } from './gateway/options/rate-limit-options.ts';
export { readReplicasOptions } from './gateway/options/read-replica-options.ts';
export { tenantOptions } from './gateway/options/tenant-options.ts';
export { uploadOptions } from './gateway/options/upload-options.ts';
export { logOptions } from './logging/options.ts';
export { crudOptions, listingLimits, type ResolvedCrudOptions, resolveCrudOptions } from './tables/crud-options.ts';
export type { Table } from './tables/decode-table.ts';
export { toParameter, toRoutine } from './tables/operations.ts';
export {
  type ComparisonCondition,
  type Condition,
  isState,
  type Operand,
  states,
  writeConditions,
  writeOperand,
  writeWhere,
} from './tables/parts/condition.ts';
export { conflictSql } from './tables/parts/conflict.ts';
export { type Operation, resolveOperation, standardOperator } from './tables/parts/operation.ts';
export { type Order, writeOrder } from './tables/parts/order.ts';
export { type Page, type RowCount, writePage } from './tables/parts/page.ts';
export { type FinishedStatement, sql, SqlText, text } from './tables/parts/sql-text.ts';
export { listColumnParameters, requireTable, rowAlias } from './tables/provided-columns.ts';
export { groupByAccess } from './tables/read/access-groups.ts';
export { hasAggregate } from './tables/read/aggregate-sql.ts';
export { type Aliased, conditionsOf, orderedField } from './tables/read/filter-sql.ts';
export { foreignKeysSql } from './tables/read/foreign-keys.sql.ts';
export { writeColumns } from './tables/read/joined-columns.ts';
export { pageOf, rowCount } from './tables/read/page-sql.ts';
export { parseReadQuery } from './tables/read/parse-query.ts';
export { readShape } from './tables/read/query-shape.ts';
export { ShapeCache } from './tables/read/shape-cache.ts';
export { type BoundValue, resolveValues, type TextValue } from './tables/parts/request-value.ts';
export { parseCondition } from './tables/read/parse-filters.ts';
export {
  emptyLevel,
  type Filter,
  filteredNames,
  filterOperators,
  type Level,
  type OrderTerm,
  type ReadQuery,
  type SelectItem,
} from './tables/read/query.ts';
export { findRelationship, hasRelationship } from './tables/read/find-relationship.ts';
export {
  computedOf,
  createReadModel,
  decodeForeignKeys,
  type KeyFacts,
  listForeignKeys,
  type ReadModel,
  type Relationship,
} from './tables/read/relationships.ts';
export { ReadFault, type ReadFaultFacts } from './tables/read/read-fault.ts';
export { listSize, maxBodyBytes } from './tables/read/related-lists.ts';
export { type Relation, relationKey } from './tables/read/relation.ts';
export { decodeRepresentations, type RelationColumn, representedColumn } from './tables/read/representations.ts';
export { representationsSql } from './tables/read/representations.sql.ts';
export { toTableColumn } from './tables/read/result-column.ts';
export { type RowFunction, toRowFunction } from './tables/read/row-function.ts';
export { type LevelSql, type Read, SelectBuilder } from './tables/read/select-builder.ts';
export { viewColumnsSql } from './tables/read/view-columns.sql.ts';
export { decodeViewColumns } from './tables/read/view-keys.ts';
export { listRoutines, readTables, resolveFilters } from './tables/read-tables.ts';
export { type RelatedTable, relatedTables } from './tables/read-targets.ts';
export { tablesSql } from './tables/tables.sql.ts';
export { toError } from './to-error.ts';
export { qualifyDefault } from './tables/write/default-expression.ts';
export {
  bodyAlias,
  bodyReference,
  bodyRows,
  bodyValue,
  type InsertedRows,
  insertRowsSql,
  itemRecordSql,
  relationSql,
  type WrittenColumn,
  type WrittenTable,
} from './tables/write/insert-rows.ts';
export { viewEntriesSql } from './tables/view-entries.sql.ts';
export { type CsvRecord, MalformedCsv, readCsv } from './uploads/csv-reader.ts';
export { faultAt, type FileFault } from './sql-files/fault.ts';
export { sqlFilesOptions } from './sql-files/options.ts';
export { readTestFiles } from './sql-files/read-files.ts';
export { type FileComment, type FileStatement, scanFile } from './sql-files/scan.ts';
export { controlsTransaction } from './sql-files/statement-rules.ts';
export { csvUploadOptions, defaultUploadHandlerOptions, fileSystemUploadOptions } from './uploads/options.ts';
export type { TableName } from './catalog/table-name.ts';
export { publicationName, readLogFacts } from './changes/preconditions/log-facts.ts';
export { planPublication } from './changes/preconditions/plan-publication.ts';
export { openSingleConnection } from './gateway/single-connection.ts';
export { createTextRowSink } from './postgres/query.ts';
export { setConfigStatement } from './postgres/settings.ts';
