import type { Routine, RoutineParameter } from '../catalog/routine.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import { display } from './diagnostic.ts';
import { type NamedType, describeDuplicateName } from './named-type.ts';
import type { EndpointParameter, ParameterField } from './endpoint.ts';
import type { PathSegment } from './path.ts';

/** Tells a reason for which the endpoint cannot be published. */
export type ReportProblem = (code: string, message: string) => void;

/** How the names of an endpoint's parameters and columns are made. */
export interface NameConverter {
  readonly convertName: (name: string) => string;
  readonly convertType: (type: TypeFacts) => NamedType;
}

/** The parameters of a routine as clients give them, bound to the path where it names them. */
export function buildParameters(
  routine: Routine,
  segments: readonly PathSegment[],
  names: NameConverter,
  refuse: ReportProblem,
): readonly EndpointParameter[] {
  // The columns of a table are many: fields of a composite one have no keys among them.
  const spread = routine.table === undefined;
  const named = routine.parameters.map((parameter) => nameParameter(parameter, names, spread));
  const byName = lookUp(named, refuse);
  const inPath = new Set<number>();
  for (const segment of segments) {
    if (segment.kind === 'literal') continue;
    const position = bindSegment(segment, byName, refuse);
    if (position === null) continue;
    if (inPath.has(position)) refuse('path-parameter', `the path has the parameter ${display(segment.name)} twice`);
    inPath.add(position);
  }
  return named.map((parameter) => ({ ...parameter, inPath: inPath.has(parameter.position) }));
}

function nameParameter(
  parameter: RoutineParameter,
  { convertName: convert, convertType: keyed }: NameConverter,
  spread: boolean,
): EndpointParameter {
  // PostgreSQL itself calls an unnamed parameter by its place, and so do clients: `?$1=999`.
  const name = parameter.name ?? `$${parameter.position}`;
  return {
    name,
    // A converter that leaves nothing of a name (`_`) would make keys that nobody can tell apart.
    key: parameter.name === null ? name : convert(name) || name,
    position: parameter.position,
    type: keyed(parameter.type),
    optional: parameter.hasDefault,
    variadic: parameter.variadic,
    unnamed: parameter.name === null,
    inPath: false,
    fields: parameter.name === null || !spread ? null : fieldsOf(parameter.name, keyed(parameter.type), convert),
  };
}

/** `_address` with a field `city` may be given as `addressCity`. */
function fieldsOf(
  parameter: string,
  type: NamedType,
  convert: (name: string) => string,
): readonly ParameterField[] | null {
  if (type.fields === undefined) return null;
  return type.fields.map((field) => {
    const name = `${parameter}_${field.name}`;
    return { name, key: convert(name) || name, type: field.type };
  });
}

/** What a client can give under a name of its own: a parameter, or one of its fields. */
interface Place {
  readonly parameter: EndpointParameter;
  readonly name: string;
}

/** Clients may use the original and the converted name, so one name of either kind may only mean one parameter or field. */
function lookUp(
  parameters: readonly EndpointParameter[],
  refuse: ReportProblem,
): ReadonlyMap<string, EndpointParameter> {
  const byName = new Map<string, Place>();
  for (const parameter of parameters) {
    // Fields that share a name are as ambiguous behind the parameter's name: once said is enough.
    const said = refuseSharedNames(parameter, refuse) ? parameter : null;
    for (const [name, place] of placesOf(parameter)) {
      const other = byName.get(name);
      if (other !== undefined && other.parameter !== said) {
        refuse(
          'duplicate-parameter',
          `${display(name)} is a name of both ${display(other.name)} and ${display(place.name)}; rename one of them`,
        );
      }
      byName.set(name, place);
    }
  }
  return new Map([...byName].map(([name, { parameter }]) => [name, parameter]));
}

function placesOf(parameter: EndpointParameter): readonly (readonly [name: string, place: Place])[] {
  return [parameter, ...(parameter.fields ?? [])].flatMap(({ name, key }) =>
    [...new Set([name, key])].map((one) => [one, { parameter, name }] as const),
  );
}

/** In JSON, the fields of a composite value go by either name too. */
function refuseSharedNames({ type }: EndpointParameter, refuse: ReportProblem): boolean {
  const shared = describeDuplicateName(type, ({ name, key }) => [name, key]);
  if (shared !== null) refuse('duplicate-field', shared);
  return shared !== null;
}

/** The parameter that an author calls so, by its original or converted name. */
export function findParameter(parameters: readonly EndpointParameter[], name: string): EndpointParameter | null {
  return parameters.find((parameter) => parameter.name === name || parameter.key === name) ?? null;
}

function bindSegment(
  segment: PathSegment & { kind: 'parameter' },
  byName: ReadonlyMap<string, EndpointParameter>,
  refuse: ReportProblem,
): number | null {
  const parameter = byName.get(segment.name);
  // A field's name leads to its parameter too, but a segment is a whole value.
  if (parameter === undefined || ![parameter.name, parameter.key].includes(segment.name)) {
    refuse('path-parameter', `the path names ${display(segment.name)}, but the routine has no such parameter`);
    return null;
  }
  if (segment.optional && !parameter.optional) {
    refuse('path-parameter', `${display(segment.name)} may be missing from the path, but the parameter has no default`);
  }
  return parameter.position;
}
