import type { Routine } from '../catalog/routine.ts';
import { escapeControlCharacters } from '../validation/escape.ts';
import type { Diagnostic } from './diagnostic.ts';
import type {
  Endpoint,
  EventScope,
  InjectedValue,
  Method,
  ParameterSource,
  RequestHeadersBinding,
  ResponseHeader,
  ToolHint,
} from './endpoint.ts';
import type { EndpointOptions } from './options.ts';
import type { ValidationRule } from './validation/rules.ts';
import { hasAnyTag, getTags, findUnknownTags } from './tags.ts';
import type { AnnotationContext } from './comment/annotation-context.ts';
import type { CommentTrace } from './comment/comment-trace.ts';
import type { ParsedAnnotation } from './comment/parsed-annotation.ts';

/** Values that annotations set. Null when the comment does not set the value. */
export interface Overrides {
  method: Method | null;
  path: string | null;
  parameterSource: ParameterSource | null;
  contentType: string | null;
  raw: boolean | null;
  separator: string | null;
  newLine: string | null;
  columnNames: boolean | null;
  connection: string | null;
  requestHeadersMode: RequestHeadersBinding['mode'] | null;
  requestHeadersParameterName: string | null;
  bodyParameterName: string | null;
  sensitive: boolean | null;
  planCacheMode: Endpoint['planCacheMode'];
  connectionReset: boolean | null;
  consistency: NonNullable<Endpoint['consistency']> | null;
  idempotency: NonNullable<Endpoint['idempotency']> | null;
  bufferRows: number | null;
  responseSettings: boolean | null;
  largeNumbers: EndpointOptions['largeNumbers'] | null;
  /** Whether composite columns are nested objects. */
  nested: boolean | null;
  fieldErrors: boolean | null;
  fieldErrorStatus: number | null;
  timeoutMs: number | null;
  textResponseNullHandling: Endpoint['textResponseNullHandling'] | null;
  queryStringNullHandling: Endpoint['queryStringNullHandling'] | null;
  /** True for the default path. */
  infoPath: string | boolean | null;
  infoScope: EventScope | null;
  infoLevel: 'info' | 'notice' | 'warning' | null;
  listen: string | null;
  listing: boolean | null;
  allowUnfilteredDelete: boolean | null;
  typedClient: boolean | null;
  typedClientEvents: boolean | null;
  typedClientParseUrl: boolean | null;
  typedClientParseRequest: boolean | null;
  typedClientStatusCode: boolean | null;
  loginOrLogout: 'login' | 'logout' | null;
  /** The name of the parameter that identifies the user of a login. */
  loginUser: string | null;
  basicAuthenticationRealm: string | null;
  basicAuthenticationCommand: string | null;
  userContext: boolean | null;
  userParameters: boolean | null;
  /** The names of the parameters in the cache key. */
  cached: readonly string[] | 'all' | null;
  cacheExpiresInMs: number | null;
  /** A policy of null: the endpoint has no rate limit. */
  rateLimit: { readonly policy: string | null } | null;
  mcp: boolean | null;
  mcpName: string | null;
  mcpTitle: string | null;
  mcpHints: readonly ToolHint[] | null;
  enabled: boolean;
  internal: boolean | null;
  /** The names of the upload handlers. */
  upload: readonly string[] | null;
}

/** The lines below a `for` line. The first scope has no such line and applies to every endpoint. */
export interface TagScope {
  readonly number: number;
  readonly applies: boolean;
  /** Tags that no endpoint has. The `for` line may be a sentence. */
  readonly unknown: readonly string[];
  /** The line of the `for` line; null for the first scope. */
  readonly line: number | null;
}

/** The authorization set by a comment. The scope numbers reveal contradictory lines. */
export interface AccessRules {
  required: boolean;
  roles: string[];
  authorizedIn: number | null;
  anonymousIn: number | null;
}

/** An option of an upload handler, set by a comment. */
export interface UploadSetting {
  readonly handler: string;
  readonly option: string;
  readonly text: string;
  /** Whether the line has the name of the handler, which takes precedence. */
  readonly isPrefixed: boolean;
  readonly line: number;
}

/** Collects the annotations and diagnostics of one routine. The only mutable state of this module. */
export class EndpointBuilder {
  readonly routine: Routine;
  readonly options: EndpointOptions;
  readonly tags: readonly string[];
  readonly diagnostics: Diagnostic[] = [];
  /** Diagnostics about a misspelt or skipped `HTTP` line, reported even if the routine is not published. */
  readonly hints: Diagnostic[] = [];
  readonly headers: ResponseHeader[] = [];
  readonly description: string[] = [];
  readonly overrides: Overrides = {
    method: null,
    path: null,
    parameterSource: null,
    contentType: null,
    raw: null,
    separator: null,
    newLine: null,
    columnNames: null,
    connection: null,
    requestHeadersMode: null,
    requestHeadersParameterName: null,
    bodyParameterName: null,
    sensitive: null,
    planCacheMode: null,
    connectionReset: null,
    consistency: null,
    idempotency: null,
    bufferRows: null,
    responseSettings: null,
    largeNumbers: null,
    nested: null,
    fieldErrors: null,
    fieldErrorStatus: null,
    timeoutMs: null,
    textResponseNullHandling: null,
    queryStringNullHandling: null,
    infoPath: null,
    infoScope: null,
    infoLevel: null,
    listen: null,
    listing: null,
    allowUnfilteredDelete: null,
    typedClient: null,
    typedClientEvents: null,
    typedClientParseUrl: null,
    typedClientParseRequest: null,
    typedClientStatusCode: null,
    loginOrLogout: null,
    loginUser: null,
    basicAuthenticationRealm: null,
    basicAuthenticationCommand: null,
    userContext: null,
    userParameters: null,
    cached: null,
    cacheExpiresInMs: null,
    rateLimit: null,
    mcp: null,
    mcpName: null,
    mcpTitle: null,
    mcpHints: null,
    enabled: true,
    internal: null,
    upload: null,
  };
  readonly access: AccessRules = { required: false, roles: [], authorizedIn: null, anonymousIn: null };
  /** Injected values, by parameter name. */
  readonly injections: { readonly name: string; readonly value: InjectedValue; readonly line: number }[] = [];
  basicAuthentication: { readonly user: string | null; readonly hash: string | null } | null = null;
  /** The rules of parameters, by parameter name. */
  readonly validations: { readonly name: string; readonly rules: readonly ValidationRule[]; readonly line: number }[] =
    [];
  readonly hashes: { readonly name: string; readonly source: string; readonly line: number }[] = [];
  /** Names of routines and tables whose cached responses a call invalidates. */
  readonly invalidates: { readonly name: string; readonly line: number }[] = [];
  /** The parameters that receive the metadata of uploaded files. */
  readonly uploadMetadata: { readonly name: string; readonly line: number }[] = [];
  /** The options of upload handlers, in the order of their lines. */
  readonly uploadSettings: UploadSetting[] = [];
  /** The upload handlers of the endpoint, known before its lines are parsed; null for an endpoint without uploads. */
  uploadHandlers: readonly string[] | null = null;
  hasHttpAnnotation = false;
  /** The number of the scope with the last `HTTP` line. */
  httpScope: number | null = null;
  /** The last annotation that set each value. */
  readonly #annotations = new Map<keyof Overrides, ParsedAnnotation>();
  scope: TagScope = { number: 0, applies: true, unknown: [], line: null };
  /** How each line was read. Null unless an explanation was asked for. */
  readonly trace: CommentTrace | null;

  constructor(routine: Routine, options: EndpointOptions, trace: CommentTrace | null = null) {
    this.routine = routine;
    this.trace = trace;
    this.options = options;
    this.tags = getTags(routine);
  }

  /** Sets a value and reports it when `logAnnotationSetInfo` is on. */
  set<K extends keyof Overrides>(parsed: ParsedAnnotation, key: K, value: Overrides[K]): void {
    this.overrides[key] = value;
    this.#annotations.set(key, parsed);
    this.logEffect(parsed, `sets ${key} to ${escapeControlCharacters(formatValue(value))}`);
  }

  /** The facts by which a line can be an annotation or prose. */
  get context(): AnnotationContext {
    const { routine, options, uploadHandlers } = this;
    return {
      uploads: options.uploads,
      uploadHandlers,
      isParameter: (written) =>
        routine.table === undefined &&
        routine.parameters.some(
          ({ name }) => name !== null && (name === written || options.nameConverter(name) === written),
        ),
    };
  }

  /** Returns the last annotation that set this value, or null. */
  annotationFor(key: keyof Overrides): ParsedAnnotation | null {
    return this.#annotations.get(key) ?? null;
  }

  /** Reports the effect of an annotation when `logAnnotationSetInfo` is on. */
  logEffect(parsed: ParsedAnnotation, effect: string): void {
    this.trace?.addEffect(parsed.line, effect);
    if (this.options.logAnnotationSetInfo)
      this.report('info', 'annotation-set', `${parsed.name} ${effect}`, parsed.line);
  }

  report(severity: Diagnostic['severity'], code: string, message: string, line: number | null): void {
    this.diagnostics.push({ severity, code, routine: this.routine.signature, line, message });
  }

  /** Reports an error at the line of the annotation that set a value; of the whole comment if none did. */
  reportAt(key: keyof Overrides, code: string, message: string): void {
    this.report('error', code, message, this.annotationFor(key)?.line ?? null);
  }

  addHint(code: string, message: string, line: number): void {
    this.hints.push({ severity: 'warning', code, routine: this.routine.signature, line, message });
  }

  enterScope(tags: readonly string[], line: number): void {
    this.scope = {
      number: this.scope.number + 1,
      applies: hasAnyTag(this.tags, tags),
      unknown: findUnknownTags(tags),
      line,
    };
  }

  get hasErrors(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  }
}

function formatValue(value: Overrides[keyof Overrides]): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('policy' in value) return value.policy ?? 'none';
  return ('kind' in value ? [value.kind, ...value.names] : value).join(' ');
}
