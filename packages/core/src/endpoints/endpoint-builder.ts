import type { Routine } from '../catalog/routine.ts';
import { escapeControlCharacters } from '../validation/escape.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Endpoint, InjectedValue, ResponseHeader } from './endpoint.ts';
import type { EndpointOptions } from './options.ts';
import type { ValidationRule } from './validation/rules.ts';
import { hasAnyTag, getTags, findUnknownTags } from './tags.ts';
import type { AnnotationContext } from './comment/annotation-context.ts';
import type { CommentTrace } from './comment/comment-trace.ts';
import type { ParsedAnnotation } from './comment/parsed-annotation.ts';
import { type Setting, type SettingKey, Settings } from './comment/setting.ts';
import type { Origin, Resolved } from './origin.ts';

/** The lines below a `for` line. The first scope has no such line and applies to every endpoint. */
export interface TagScope {
  readonly number: number;
  readonly applies: boolean;
  /** Tags that no endpoint has. The `for` line may be a sentence. */
  readonly unknown: readonly string[];
  /** The line of the `for` line; null for the first scope. */
  readonly line: number | null;
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
  /** Injected values, by parameter name. */
  readonly injections: { readonly name: string; readonly value: InjectedValue; readonly line: number }[] = [];
  /** The queries whose values parameters get. */
  readonly valueQueries: { readonly name: string; readonly text: string; readonly line: number }[] = [];
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
  readonly #settings = new Settings();
  scope: TagScope = { number: 0, applies: true, unknown: [], line: null };
  /** How each line was read. Null unless an explanation was asked for. */
  readonly trace: CommentTrace | null;
  /** Where the members of the endpoint come from. Null unless an explanation was asked for. */
  readonly origins: Map<keyof Endpoint, Origin> | null;

  constructor(routine: Routine, options: EndpointOptions, trace: CommentTrace | null = null) {
    this.routine = routine;
    this.trace = trace;
    this.origins = trace === null ? null : new Map();
    this.options = options;
    this.tags = getTags(routine);
  }

  /** Returns the value that the comment sets, or null. */
  get<Value>(setting: Setting<Value>): Value | null {
    return this.#settings.get(setting);
  }

  isSet(setting: SettingKey): boolean {
    return this.#settings.isSet(setting);
  }

  /** Sets a value, or removes it (null). Reports it when `logAnnotationSetInfo` is on. */
  set<Value>(parsed: ParsedAnnotation, setting: Setting<Value>, value: Value | null): void {
    this.#settings.set(setting, value, parsed);
    this.logEffect(parsed, describeEffect(setting, value));
  }

  /** Returns the value, and records its origin if an explanation was asked for. */
  record<Value>(member: keyof Endpoint, resolved: Resolved<Value>): Value {
    const { value, origin, line, reason } = resolved;
    if (this.origins !== null) this.origins.set(member, { origin, line, reason });
    return value;
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
          ({ name, position }) =>
            written === `$${position}` ||
            (name !== null && (name === written || options.nameConverter(name) === written)),
        ),
    };
  }

  /** Returns the last annotation that set this value, or null. */
  annotationFor(setting: SettingKey): ParsedAnnotation | null {
    return this.#settings.annotationFor(setting);
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
  reportAt(setting: SettingKey, code: string, message: string): void {
    this.report('error', code, message, this.annotationFor(setting)?.line ?? null);
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

function describeEffect<Value>(setting: Setting<Value>, value: Value | null): string {
  const written = Array.isArray(value) ? value.join(' ') : String(value);
  const effect = value === null ? undefined : setting.effect?.(value);
  return escapeControlCharacters(effect ?? `sets ${setting.key} to ${written}`);
}
