/** What the rules know: the objects of the catalog, and which of them are served. */
import type { EndpointExplanation } from '@pgway/core/explanation';

/** A name, plain and as in SQL. */
export interface Named {
  readonly schema: string;
  readonly name: string;
  readonly sqlName: string;
}

export interface Relation extends Named {
  readonly oid: number;
  /** `pg_class.relkind`. */
  readonly relationKind: 'r' | 'p' | 'v' | 'm' | 'f';
  readonly owner: number;
  readonly ownerName: string;
  readonly hasRowSecurity: boolean;
  /** Whether policies apply to the owner, too. */
  readonly isForced: boolean;
  readonly isPartition: boolean;
  /** Whether a view uses the privileges and policies of its caller. */
  readonly isInvoker: boolean;
  /** An estimate; negative when it is not known. */
  readonly rows: number;
  readonly comment: string | null;
  readonly hasPrimaryKey: boolean;
  /** The oids of the relations in the query of a view. */
  readonly shownRelations: readonly number[];
  readonly columns: readonly Column[];
}

export interface Column {
  readonly number: number;
  readonly name: string;
  readonly sqlName: string;
  readonly isNotNull: boolean;
  /** `pg_type.typcategory`. */
  readonly category: string;
  /** The name of the type without its schema. */
  readonly type: string;
}

export type Command = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

export interface Policy extends Named {
  readonly table: number;
  readonly policyName: string;
  readonly isPermissive: boolean;
  readonly commands: readonly Command[];
  /** Oids; 0 is PUBLIC. */
  readonly roles: readonly number[];
  /** In the order of `roles`, as in SQL. */
  readonly roleNames: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
  /** Qualified names, as in the expressions. */
  readonly stableFunctions: readonly string[];
}

export interface Routine extends Named {
  readonly oid: number;
  readonly signature: string;
  readonly kind: 'FUNCTION' | 'PROCEDURE';
  readonly language: string;
  readonly isDefiner: boolean;
  readonly owner: number;
  readonly ownerName: string;
  readonly isTrigger: boolean;
  readonly hasSearchPath: boolean;
  readonly searchPath: string | null;
  /** Whether names in its body were resolved when it was created. */
  readonly hasSqlBody: boolean;
  readonly body: string;
  /** Of the input parameters: oids, and names, which can be empty. */
  readonly argumentTypes: readonly number[];
  readonly argumentNames: readonly string[];
  /** Whether PUBLIC may execute it. */
  readonly isPublic: boolean;
  /** What calls it in sessions of any role, such as `a policy`. */
  readonly callers: readonly string[];
  readonly comment: string | null;
}

export interface Index extends Named {
  readonly oid: number;
  readonly table: number;
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
  readonly isValid: boolean;
  readonly isReplicaIdentity: boolean;
  readonly isPartition: boolean;
  /** The key or exclusion constraint that it belongs to, as in SQL. */
  readonly constraint: string | null;
  /** Whether foreign keys refer to it. */
  readonly isReferenced: boolean;
  /** The numbers of its key columns; 0 is an expression. */
  readonly keys: readonly number[];
  readonly isPartial: boolean;
  readonly definition: string;
  readonly scans: number;
  readonly bytes: number;
}

export interface ForeignKey extends Named {
  readonly table: number;
  readonly constraintName: string;
  readonly keys: readonly number[];
  /** The referenced table, as in SQL. */
  readonly target: string;
}

export interface Role {
  readonly oid: number;
  readonly name: string;
  readonly sqlName: string;
  readonly isSuperuser: boolean;
  readonly isBypassing: boolean;
  /** Whether calls run under this role. */
  readonly isCaller: boolean;
  /** The owners of tables whose privileges the role has. */
  readonly ownerOf: readonly number[];
}

/** A privilege that no role of calls has for an object that is served. */
export interface MissingGrant {
  readonly object: 'routine' | 'relation';
  readonly oid: number;
  readonly privilege: 'EXECUTE' | Command;
  /** Whether a role has the privilege itself. */
  readonly hasObject: boolean;
  /** Whether a role may use the schema. */
  readonly hasSchema: boolean;
}

/** What the rules use of an endpoint. */
export type ServedEndpoint = NonNullable<EndpointExplanation['endpoint']>;

export interface ServedRelation {
  readonly endpoints: readonly ServedEndpoint[];
  /** The privileges that the operations need. */
  readonly commands: ReadonlySet<Command>;
}

/** By the oids of the objects. */
export interface Served {
  readonly relations: ReadonlyMap<number, ServedRelation>;
  readonly routines: ReadonlyMap<number, readonly ServedEndpoint[]>;
}

/** A sequential scan in the plan of a served routine. */
export interface Scan {
  readonly routine: number;
  readonly relation: number;
  /** The condition, as EXPLAIN prints it. */
  readonly filter: string;
  /** The columns of the index that is proposed, as in SQL; empty: none fits, or hypopg has shown that it is not used. */
  readonly columns: readonly string[];
}

export interface Server {
  /** Such as 180004. */
  readonly version: number;
  readonly user: string;
  /** The age of the statistics. */
  readonly statisticsDays: number | null;
  /** The schema of the extension hypopg, as in SQL; null: it is not installed. */
  readonly hypopgSchema: string | null;
}

/** What the catalog tells. */
export interface CatalogFacts {
  readonly server: Server;
  readonly relations: ReadonlyMap<number, Relation>;
  readonly policies: readonly Policy[];
  readonly routines: readonly Routine[];
  readonly indexes: readonly Index[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly openSchemas: readonly Pick<Named, 'name' | 'sqlName'>[];
  readonly roles: ReadonlyMap<number, Role>;
  readonly served: Served;
  readonly missingGrants: readonly MissingGrant[];
}

export interface Facts extends CatalogFacts {
  readonly scans: readonly Scan[];
}

/** Returns the roles that calls run under. */
export function callerRoles({ roles }: Pick<CatalogFacts, 'roles'>): readonly Role[] {
  return [...roles.values()].filter(({ isCaller }) => isCaller);
}

/** The roles of calls, without superusers, whose privileges are not limited. */
export function limitedRoles(facts: Pick<CatalogFacts, 'roles'>): readonly Role[] {
  return callerRoles(facts).filter(({ isSuperuser }) => !isSuperuser);
}

/** Whether the policies of a table do not apply to a role. PostgreSQL manual, "Row Security Policies". */
export function bypassesPolicies(role: Role, { owner, isForced }: Relation): boolean {
  return role.isSuperuser || role.isBypassing || (!isForced && role.ownerOf.includes(owner));
}
