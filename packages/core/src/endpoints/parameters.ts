import type { Routine, RoutineParameter } from '../catalog/routine.ts';
import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import { deepFreeze } from './deep-freeze.ts';
import { display } from './diagnostic.ts';
import { type NamedColumn, type NamedType, describeDuplicateName } from './named-type.ts';
import type { EndpointParameter, ParameterField, ResultColumn } from './endpoint.ts';
import type { PathSegment } from './path.ts';
import { suggestParameter } from './unknown-parameter.ts';

/** Reports a problem of an endpoint. */
export type ReportProblem = (code: string, message: string) => void;

/** Converts names of parameters, columns and composite fields. */
export interface NameConverter {
  readonly convertName: (name: string) => string;
  readonly convertType: (type: TypeFacts) => NamedType;
  /** Converts the columns of a result. Routines that return one named type share the result. */
  readonly convertColumns: (columns: readonly Column[]) => readonly ResultColumn[];
}

interface ParameterReporters {
  readonly reportError: ReportProblem;
  /** Reports at the line that sets the path. */
  readonly reportPathError: ReportProblem;
}

/** Builds the parameters of a routine and marks those in the path. */
export function buildParameters(
  routine: Routine,
  segments: readonly PathSegment[],
  names: NameConverter,
  { reportError, reportPathError }: ParameterReporters,
): readonly EndpointParameter[] {
  // Table operations have no separate keys for the fields of composite columns.
  const hasFieldKeys = routine.table === undefined;
  const parameters = routine.parameters.map((parameter) => buildParameter(parameter, names, hasFieldKeys));
  const byName = indexByName(parameters, reportError);
  for (const segment of segments) {
    if (segment.kind === 'literal') continue;
    const parameter = bindSegment(segment, byName, reportPathError);
    if (parameter === null) continue;
    if (parameter.inPath)
      reportPathError('path-parameter', `the path contains the parameter ${display(segment.name)} twice; remove one`);
    parameter.inPath = true;
  }
  return deepFreeze(parameters);
}

/** A parameter before its place in the path is known. */
interface UnboundParameter extends Omit<EndpointParameter, 'inPath' | 'defaultExpression'> {
  inPath: boolean;
  defaultExpression?: string;
}

function buildParameter(
  parameter: RoutineParameter,
  { convertName, convertType }: NameConverter,
  hasFieldKeys: boolean,
): UnboundParameter {
  // PostgreSQL refers to an unnamed parameter by position, and so do clients: `?$1=999`.
  const name = parameter.name ?? `$${parameter.position}`;
  const unbound: UnboundParameter = {
    name,
    // A converter may return an empty text for `_`.
    key: parameter.name === null ? name : convertName(name) || name,
    position: parameter.position,
    type: convertType(parameter.type),
    optional: parameter.hasDefault,
    variadic: parameter.variadic,
    unnamed: parameter.name === null,
    inPath: false,
    fields:
      parameter.name === null || !hasFieldKeys
        ? null
        : buildFields(parameter.name, convertType(parameter.type), convertName),
  };
  if (parameter.defaultExpression !== undefined) unbound.defaultExpression = parameter.defaultExpression;
  return unbound;
}

/** Returns separate keys for the fields: `addressCity` for the field `city` of `_address`. */
function buildFields(
  parameter: string,
  type: NamedType,
  convertName: (name: string) => string,
): readonly ParameterField[] | null {
  if (type.fields === undefined) return null;
  return type.fields.map((field) => {
    const name = `${parameter}_${field.name}`;
    return { name, key: convertName(name) || name, type: field.type };
  });
}

/** A parameter, or one of its fields, with a name that clients may use. */
interface NamedInput {
  readonly parameter: UnboundParameter;
  readonly name: string;
}

/** Indexes parameters by original and converted names, including those of fields. Reports duplicates. */
function indexByName(
  parameters: readonly UnboundParameter[],
  reportError: ReportProblem,
): ReadonlyMap<string, NamedInput> {
  const byName = new Map<string, NamedInput>();
  for (const parameter of parameters) {
    // Duplicate fields of a parameter are reported once, by the type.
    const reported = reportDuplicateFields(parameter, reportError) ? parameter : null;
    const add = (written: string, name: string): void => {
      const other = byName.get(written);
      if (other !== undefined && other.parameter !== reported) {
        reportError(
          'duplicate-parameter',
          `${display(written)} is a name of both ${display(other.name)} and ${display(name)}; rename one of them`,
        );
      }
      byName.set(written, { parameter, name });
    };
    const addNames = ({ name, key }: Pick<ParameterField, 'name' | 'key'>): void => {
      add(name, name);
      if (key !== name) add(key, name);
    };
    addNames(parameter);
    parameter.fields?.forEach(addNames);
  }
  return byName;
}

const fieldNames = ({ name, key }: NamedColumn): readonly string[] => [name, key];

/** Reports fields of a composite type with the same name. Returns whether there are any. */
function reportDuplicateFields({ type }: UnboundParameter, reportError: ReportProblem): boolean {
  const message = describeDuplicateName(type, fieldNames);
  if (message !== null) reportError('duplicate-field', message);
  return message !== null;
}

/** Returns the parameter with this original or converted name, or at the position `$1`; null without one. */
export function findParameter(parameters: readonly EndpointParameter[], name: string): EndpointParameter | null {
  return (
    parameters.find((parameter) => parameter.name === name || parameter.key === name) ??
    parameters.find(({ position }) => name === `$${position}`) ??
    null
  );
}

function bindSegment(
  segment: PathSegment & { kind: 'parameter' },
  byName: ReadonlyMap<string, NamedInput>,
  reportError: ReportProblem,
): UnboundParameter | null {
  const parameter = byName.get(segment.name)?.parameter;
  // The index contains fields too, but a segment is the value of a whole parameter.
  if (parameter === undefined || ![parameter.name, parameter.key].includes(segment.name)) {
    const parameters = [...byName.values()].map((input) => input.parameter);
    const hint = suggestParameter(segment.name, parameters) ?? 'add the parameter, or correct the path';
    reportError(
      'path-parameter',
      `the path contains ${display(segment.name)}, but the routine has no parameter of that name; ${hint}`,
    );
    return null;
  }
  if (segment.optional && !parameter.optional) {
    reportError(
      'path-parameter',
      `${display(segment.name)} is optional in the path, but the parameter has no default; remove the ? or add a default`,
    );
  }
  return parameter;
}
