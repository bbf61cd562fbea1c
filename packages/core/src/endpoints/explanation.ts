import type { Routine } from '../catalog/routine.ts';
import { isEnabled } from './annotations/enabled.ts';
import { internal } from './annotations/internal.ts';
import type { SettingKey } from './comment/setting.ts';
import type { LineExplanation } from './comment/comment-trace.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { explainPlans, explainValues, type PlanOptions, type ValueExplanation } from './explain-values.ts';
import { fromRoutine } from './origin.ts';
import { explainQuery } from './query-method.ts';
import { tableLabel } from './table-diagnostics.ts';

/** Why a routine or table operation is an endpoint, or not. Plain data that can be serialized as JSON. */
export interface EndpointExplanation {
  /** The signature, which is the id of the endpoint. */
  readonly routine: string;
  /** The name of the routine source. */
  readonly source: string;
  readonly schema: string;
  readonly name: string;
  /** Null when there is no endpoint. */
  readonly endpoint: Endpoint | null;
  /** Why there is an endpoint, or none. */
  readonly reason: string;
  /** The lines of the comment, in order. */
  readonly lines: readonly LineExplanation[];
  /** The main values of the endpoint, each with its origin. Empty without an endpoint. */
  readonly values: readonly ValueExplanation[];
  /** The problems of the routine, with their lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A routine after its comment was read. `endpoint` is null when none was built. */
export interface TracedRoutine {
  readonly builder: EndpointBuilder;
  readonly endpoint: Endpoint | null;
}

/** The steps that follow the comments. */
export interface LoadSteps {
  /** The endpoints before and after the hook `endpointCreated`. */
  readonly changes: readonly { readonly original: Endpoint; readonly endpoint: Endpoint }[];
  /** The endpoints in use. */
  readonly endpoints: readonly Endpoint[];
  /** Of all steps, about endpoints. */
  readonly diagnostics: readonly Diagnostic[];
  readonly plans: PlanOptions;
}

/** Explains each routine, in the order of the sources. */
export function explainEndpoints(traced: readonly TracedRoutine[], steps: LoadSteps): readonly EndpointExplanation[] {
  const changes = new Map(steps.changes.map((change) => [change.original, change.endpoint]));
  const used = new Map(steps.endpoints.map((endpoint) => [toKey(endpoint), endpoint]));
  const byRoutine = groupByRoutine(steps.diagnostics);
  return traced.map(({ builder, endpoint }) => {
    const { routine } = builder;
    const changed = endpoint === null ? undefined : changes.get(endpoint);
    const inUse = changed === undefined ? null : (used.get(toKey(changed)) ?? null);
    const isDropped = endpoint !== null && !builder.hasErrors && changed === undefined;
    const diagnostics = collectDiagnostics(builder, byRoutine, inUse !== null);
    return {
      routine: routine.signature,
      source: routine.source ?? 'functions',
      schema: routine.schema,
      name: routine.name,
      endpoint: inUse,
      reason: inUse === null ? explainAbsence(builder, diagnostics, isDropped) : explainPublication(builder),
      lines: builder.trace?.lines ?? [],
      values:
        inUse === null
          ? []
          : [
              ...explainValues(builder, inUse, endpoint!),
              ...listingValue(inUse),
              ...queryValue(inUse),
              explainPlans(builder, inUse, endpoint!, steps.plans),
            ],
      diagnostics,
    };
  });
}

/** The parameters of a listing besides those of its columns. */
function listingValue({ table, parameters }: Endpoint): readonly ValueExplanation[] {
  const listing = table?.listing ?? null;
  if (listing === null) return [];
  const { order, limit, offset, after, select, or, and } = listing;
  const positions = new Set([order, limit, offset, after, select, or, and]);
  const keys = parameters.filter(({ position }) => positions.has(position)).map(({ key }) => key);
  const reason = 'columns are filters; select can name related tables, and not. negates a condition or group';
  return [{ name: 'listing', ...fromRoutine(keys.join(', '), reason) }];
}

/** Without one, the method is not mentioned. */
function queryValue(endpoint: Endpoint): readonly ValueExplanation[] {
  const query = explainQuery(endpoint);
  return query === null ? [] : [{ name: 'QUERY', ...query }];
}

/** The effects of annotations are part of the lines. */
function collectDiagnostics(
  { routine, diagnostics }: EndpointBuilder,
  byRoutine: ReadonlyMap<string, readonly Diagnostic[]>,
  isPublished: boolean,
): readonly Diagnostic[] {
  const aboutTable = routine.table === undefined ? [] : (byRoutine.get(tableLabel(routine)) ?? []);
  return [
    ...diagnostics.filter(({ code }) => code !== 'annotation-set'),
    ...(byRoutine.get(routine.signature) ?? []),
    // Only some operations of the table may have the error.
    ...aboutTable.filter(({ severity }) => severity !== 'error' || !isPublished),
  ];
}

function groupByRoutine(diagnostics: readonly Diagnostic[]): ReadonlyMap<string, readonly Diagnostic[]> {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const group = groups.get(diagnostic.routine);
    if (group === undefined) groups.set(diagnostic.routine, [diagnostic]);
    else group.push(diagnostic);
  }
  return groups;
}

function toKey({ source, id }: Endpoint): string {
  return JSON.stringify([source, id]);
}

function commentsModeOf({ routine, options }: EndpointBuilder): NonNullable<Routine['commentsMode']> {
  return routine.commentsMode ?? options.commentsMode;
}

function explainPublication(builder: EndpointBuilder): string {
  const line = findLast(builder, 'http');
  if (line !== null) return `the HTTP line (line ${line})`;
  return `commentsMode ${commentsModeOf(builder)}, which publishes every routine`;
}

function explainAbsence(builder: EndpointBuilder, diagnostics: readonly Diagnostic[], isDropped: boolean): string {
  const { routine, hasHttpAnnotation } = builder;
  if (commentsModeOf(builder) === 'onlyWithHttpTag' && !hasHttpAnnotation) return explainMissingHttp(builder);
  const hidden = explainHidden(builder);
  if (hidden !== null) return hidden;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) return errors === 1 ? 'an error' : `${errors} errors`;
  if (isDropped) return 'the hook endpointCreated dropped it';
  const pseudo = routine.parameters.find(({ type }) => type.kind === 'pseudo');
  if (pseudo !== undefined) return `a request cannot contain a parameter of type ${pseudo.type.display}`;
  return `a response cannot contain the type ${routine.result.display}`;
}

/** Returns the line that hides the endpoint, or null. */
function explainHidden(builder: EndpointBuilder): string | null {
  const describe = (what: string, setting: SettingKey): string =>
    `${what} by line ${builder.annotationFor(setting)?.line ?? 0} of the comment`;
  if (builder.get(isEnabled) === false) return describe('disabled', isEnabled);
  return builder.get(internal) === true ? describe('internal', internal) : null;
}

function explainMissingHttp({ routine, trace }: EndpointBuilder): string {
  if ((routine.comment ?? '').trim() === '') return 'no comment';
  const skipped = trace?.lines.find(({ kind, annotation }) => kind === 'skipped' && annotation === 'http');
  if (skipped === undefined) return 'no HTTP line in the comment';
  return `the HTTP line (line ${skipped.line}) applies only to the tags of line ${skipped.scope}`;
}

/** Returns the number of the last line with this annotation that applies, or null. */
function findLast({ trace }: EndpointBuilder, annotation: string): number | null {
  const line = trace?.lines.findLast((entry) => entry.kind === 'annotation' && entry.annotation === annotation);
  return line?.line ?? null;
}
