import type { Routine } from '../catalog/routine.ts';
import { type Diagnostic, escapeControlCharacters } from './diagnostic.ts';
import type {
  Endpoint,
  EventScope,
  InjectedValue,
  Method,
  ParameterSource,
  RequestHeadersBinding,
  ResponseHeader,
} from './endpoint.ts';
import type { EndpointOptions } from './options.ts';
import { hasAnyTag, getTags, findUnknownTags } from './tags.ts';
import type { ParsedAnnotation } from './comment/annotation.ts';

/** What words set. Null: the comment says nothing about it. */
export interface Overrides {
  method: Method | null;
  path: string | null;
  source: ParameterSource | null;
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
  bufferRows: number | null;
  timeout: number | null;
  textNull: Endpoint['textResponseNullHandling'] | null;
  queryNull: Endpoint['queryStringNullHandling'] | null;
  /** True: at the usual path. */
  infoPath: string | boolean | null;
  infoScope: EventScope | null;
  listen: string | null;
  listing: boolean | null;
  allowUnfilteredDelete: boolean | null;
  client: boolean | null;
  clientEvents: boolean | null;
  clientParseUrl: boolean | null;
  clientParseRequest: boolean | null;
  clientStatusCode: boolean | null;
  signIn: 'login' | 'logout' | null;
  /** The parameter of a login that names the user, as the author calls it. */
  loginUser: string | null;
  basicRealm: string | null;
  basicCommand: string | null;
  userContext: boolean | null;
  userParameters: boolean | null;
  /** The parameters that tell answers apart, as the author calls them. */
  cached: readonly string[] | 'all' | null;
  cacheExpires: number | null;
  enabled: boolean;
}

/** The stretch of lines that one `for` line governs; the first scope has no such line and holds for everybody. */
export interface TagScope {
  readonly number: number;
  readonly applies: boolean;
  /** Tags that nobody carries: the line may be a sentence, and what it takes away may have been meant. */
  readonly unknown: readonly string[];
}

/** Who may call, as the comment says it; the scopes tell whether two lines contradict each other. */
export interface AccessRules {
  required: boolean;
  roles: string[];
  authorizedIn: number | null;
  anonymousIn: number | null;
}

/** An endpoint while its comment is read: the only mutable thing in this room, and it never leaves it. */
export class EndpointBuilder {
  readonly routine: Routine;
  readonly options: EndpointOptions;
  readonly tags: readonly string[];
  readonly diagnostics: Diagnostic[] = [];
  /** What an author should know even if the routine is no endpoint: the line that should have made it one. */
  readonly hints: Diagnostic[] = [];
  readonly headers: ResponseHeader[] = [];
  readonly description: string[] = [];
  readonly settings: Overrides = {
    method: null,
    path: null,
    source: null,
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
    bufferRows: null,
    timeout: null,
    textNull: null,
    queryNull: null,
    infoPath: null,
    infoScope: null,
    listen: null,
    listing: null,
    allowUnfilteredDelete: null,
    client: null,
    clientEvents: null,
    clientParseUrl: null,
    clientParseRequest: null,
    clientStatusCode: null,
    signIn: null,
    loginUser: null,
    basicRealm: null,
    basicCommand: null,
    userContext: null,
    userParameters: null,
    cached: null,
    cacheExpires: null,
    enabled: true,
  };
  readonly access: AccessRules = { required: false, roles: [], authorizedIn: null, anonymousIn: null };
  /** Parameters that the comment gives to the gateway to fill, by the names that it calls them. */
  readonly fillings: { readonly name: string; readonly filling: InjectedValue; readonly line: number }[] = [];
  /** HTTP Basic, where the comment asks for it. */
  basic: { readonly user: string | null; readonly hash: string | null } | null = null;
  readonly hashes: { readonly name: string; readonly of: string; readonly line: number }[] = [];
  /** What a call makes void, as the author calls it. */
  readonly invalidates: { readonly name: string; readonly line: number }[] = [];
  /** True once an `HTTP` line was read. */
  tagged = false;
  /** The number of the scope with the last `HTTP` line. */
  httpScope: number | null = null;
  /** Where the comment set what it set last, for what only the whole comment can tell. */
  readonly #uses = new Map<keyof Overrides, ParsedAnnotation>();
  scope: TagScope = { number: 0, applies: true, unknown: [] };

  constructor(routine: Routine, options: EndpointOptions) {
    this.routine = routine;
    this.options = options;
    this.tags = getTags(routine);
  }

  /** Sets what a word says, and tells so where the host wants to know. */
  set<K extends keyof Overrides>(use: ParsedAnnotation, key: K, value: Overrides[K]): void {
    this.settings[key] = value;
    this.#uses.set(key, use);
    this.note(use, `sets ${key} to ${escapeControlCharacters(shown(value))}`);
  }

  /** The word that set this; null when the comment says nothing about it. */
  useOf(key: keyof Overrides): ParsedAnnotation | null {
    return this.#uses.get(key) ?? null;
  }

  /** Tells what a word did. */
  note(use: ParsedAnnotation, effect: string): void {
    if (this.options.logAnnotationSetInfo) this.report('info', 'annotation-set', `${use.name} ${effect}`, use.line);
  }

  report(severity: Diagnostic['severity'], code: string, message: string, line: number | null): void {
    this.diagnostics.push({ severity, code, routine: this.routine.signature, line, message });
  }

  hint(code: string, message: string, line: number): void {
    this.hints.push({ severity: 'warning', code, routine: this.routine.signature, line, message });
  }

  enterScope(tags: readonly string[]): void {
    this.scope = {
      number: this.scope.number + 1,
      applies: hasAnyTag(this.tags, tags),
      unknown: findUnknownTags(tags),
    };
  }

  get stopped(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  }
}

function shown(value: Overrides[keyof Overrides]): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return ('kind' in value ? [value.kind, ...value.names] : value).join(' ');
}
