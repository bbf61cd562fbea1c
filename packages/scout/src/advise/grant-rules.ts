/** Rules about privileges and the rights that routines run with. */
import { groupBy } from '@pgway/core/internal';
import { type Facts, limitedRoles, type MissingGrant, type Routine } from './facts.ts';
import { type AdvisedObject, type Finding, relationObject, routineObject, type Rule, schemaObject } from './finding.ts';
import { endpointText } from './served.ts';

/** What a GRANT needs of an object. */
interface GrantTarget {
  readonly object: AdvisedObject;
  /** As in `ON FUNCTION …`. */
  readonly target: string;
  /** As in SQL. */
  readonly schema: string;
  readonly endpoint: string;
}

function grantTarget({ relations, routines, served }: Facts, { object, oid }: MissingGrant): GrantTarget {
  if (object === 'relation') {
    const relation = relations.get(oid)!;
    const endpoint = endpointText(served.relations.get(oid)!.endpoints);
    return { object: relationObject(relation), target: relation.sqlName, schema: schemaOf(relation), endpoint };
  }
  const routine = routines.find((candidate) => candidate.oid === oid)!;
  const endpoint = endpointText(served.routines.get(oid)!);
  return { object: routineObject(routine), target: routineTarget(routine), schema: schemaOf(routine), endpoint };
}

/** Returns the schema of a qualified name, as in SQL. */
function schemaOf({ sqlName }: { readonly sqlName: string }): string {
  return /^(?:"(?:[^"]|"")*"|[^.]+)/.exec(sqlName)![0];
}

/** Returns the routine as in ALTER, GRANT and REVOKE. */
function routineTarget({ kind, sqlName, signature }: Routine): string {
  return `${kind} ${sqlName}${signature}`;
}

function findMissingGrants(facts: Facts): readonly Finding[] {
  const roles = limitedRoles(facts).map(({ sqlName }) => sqlName);
  return [...groupBy(facts.missingGrants, ({ object, oid }) => `${object} ${oid}`).values()].map((missing) => {
    const { object, target, schema, endpoint } = grantTarget(facts, missing[0]!);
    const lacksSchema = missing.some(({ hasSchema }) => !hasSchema);
    const privileges = missing.filter(({ hasObject }) => !hasObject).map(({ privilege }) => privilege);
    const lacks = [...privileges, ...(lacksSchema ? ['USAGE of its schema'] : [])];
    return {
      object,
      reason: `calls of ${endpoint} fail: no ${lacks.join(', ')} for ${roles.join(', ')}`,
      statements: [
        ...(lacksSchema ? [`GRANT USAGE ON SCHEMA ${schema} TO ${roles[0]}`] : []),
        ...(privileges.length === 0 ? [] : [`GRANT ${privileges.join(', ')} ON ${target} TO ${roles[0]}`]),
      ],
    };
  });
}

/** The path that a function gets: its own schema, in which others must not create objects. */
function setSearchPath(routine: Routine): string {
  return `ALTER ${routineTarget(routine)} SET search_path = ${schemaOf(routine)}, pg_temp`;
}

/** Functions in C have no names to resolve. */
const hasNames = ({ language }: Routine): boolean => language !== 'c' && language !== 'internal';

function findOpenDefiners({ routines }: Facts): readonly Finding[] {
  const found = routines.filter((routine) => routine.isDefiner && !routine.hasSearchPath && hasNames(routine));
  return found.map((routine) => ({
    object: routineObject(routine),
    reason: `SECURITY DEFINER without a search_path: a caller chooses which objects the names in it mean, with the rights of ${routine.ownerName}. Add the other schemas that it uses`,
    statements: [setSearchPath(routine)],
  }));
}

/** Names of a body in standard SQL were resolved at its creation. */
function findChangeableNames({ routines }: Facts): readonly Finding[] {
  const found = routines.filter(
    (routine) =>
      !routine.isDefiner &&
      !routine.hasSearchPath &&
      !routine.hasSqlBody &&
      hasNames(routine) &&
      routine.callers.length > 0,
  );
  return found.map((routine) => ({
    object: routineObject(routine),
    reason: `the function is called by ${routine.callers.join(' and ')} in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses`,
    statements: [setSearchPath(routine)],
  }));
}

/** A trigger function needs no EXECUTE when its trigger fires, and cannot be called. */
function findPublicDefiners(facts: Facts): readonly Finding[] {
  const roles = limitedRoles(facts).map(({ sqlName }) => sqlName);
  const found = facts.routines.filter(({ isDefiner, isPublic, isTrigger }) => isDefiner && isPublic && !isTrigger);
  return found.map((routine) => {
    const isServed = facts.served.routines.has(routine.oid);
    const target = routineTarget(routine);
    return {
      object: routineObject(routine),
      reason: `every role may execute the function, which has the rights of ${routine.ownerName}. Grant EXECUTE to the roles that need it`,
      statements: [
        `REVOKE EXECUTE ON ${target} FROM PUBLIC`,
        ...(isServed && roles.length > 0 ? [`GRANT EXECUTE ON ${target} TO ${roles.join(', ')}`] : []),
      ],
    };
  });
}

function findOpenSchemas({ openSchemas }: Facts): readonly Finding[] {
  return openSchemas.map((schema) => ({
    object: schemaObject(schema),
    reason: 'every role may create objects in the schema, such as a function with the name of another that calls use',
    statements: [`REVOKE CREATE ON SCHEMA ${schema.sqlName} FROM PUBLIC`],
  }));
}

export const grantRules: readonly Rule[] = [
  {
    code: 'missing-grant',
    summary: 'the role of calls may not use what is served',
    find: findMissingGrants,
  },
  {
    code: 'definer-search-path',
    summary: 'a SECURITY DEFINER function has no fixed `search_path`',
    find: findOpenDefiners,
  },
  {
    code: 'mutable-search-path',
    summary: 'a function of a policy, constraint, default, index or trigger has no fixed `search_path`',
    find: findChangeableNames,
  },
  {
    code: 'public-definer',
    summary: 'every role may execute a SECURITY DEFINER function',
    find: findPublicDefiners,
  },
  { code: 'open-schema', summary: 'every role may create objects in a schema', find: findOpenSchemas },
];
