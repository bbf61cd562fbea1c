import type { Connections } from '../connections.ts';
import { arrayLiteral } from '../../postgres/literal.ts';
import type { Database } from '../../postgres/port.ts';
import { Problem } from '../../http/problem.ts';
import { type RoleContext, roleOf } from '../../auth/context.ts';
import type { Privileges } from '../../events/subscriber-authorization.ts';
import type { CompiledEndpoint } from '../../request/compiled-endpoint.ts';
import type { Caller } from '../../ports/ports.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { privilegesSql } from './privileges.sql.ts';

/** Milliseconds that an answer may take. */
const patience = 5_000;
/** Questions of one query. */
const batch = 1_000;

/**
 * Asks PostgreSQL whether the role of a caller may execute routines. However many streams there are, one query at a time asks each
 * database, and the same question stands once in it. No answer is older than its question.
 */
export class RoutinePrivileges implements Privileges {
  readonly #connections: Connections;
  readonly #context: RoleContext;
  readonly #inquiries = new Map<Database, Inquiry>();

  constructor(connections: Connections, context: RoleContext) {
    this.#connections = connections;
    this.#context = context;
  }

  async executable(caller: Caller | null, operations: readonly CompiledEndpoint[]): Promise<ReadonlySet<string>> {
    const role = roleOf(caller, this.#context);
    const endpoints = operations.map(({ endpoint }) => endpoint);
    const answers = await Promise.all(endpoints.map((endpoint) => this.#inquiry(endpoint).ask(role, endpoint)));
    return new Set(endpoints.filter((_, index) => answers[index] === true).map(({ id }) => id));
  }

  #inquiry({ connection }: Endpoint): Inquiry {
    const { main, named } = this.#connections;
    const database = connection === null ? main : named.get(connection)!;
    const known = this.#inquiries.get(database) ?? new Inquiry(database);
    this.#inquiries.set(database, known);
    return known;
  }
}

/** The columns of `privilegesSql`. */
type Question = readonly [role: string | null, schema: string, name: string, types: string, privilege: string];

interface Asked {
  readonly question: Question;
  readonly answer: Promise<boolean>;
  readonly resolve: (answer: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The questions to one database. */
class Inquiry {
  readonly #database: Database;
  #waiting = new Map<string, Asked>();
  #running = false;

  constructor(database: Database) {
    this.#database = database;
  }

  ask(role: string | null, endpoint: Endpoint): Promise<boolean> {
    const question = questionOf(role, endpoint);
    const key = JSON.stringify(question);
    const known = this.#waiting.get(key);
    if (known !== undefined) return known.answer;
    const asked = openQuestion(question);
    this.#waiting.set(key, asked);
    if (!this.#running) void this.#run();
    return asked.answer;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // What is asked in the same turn goes into one query.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const all = [...this.#waiting.values()];
      this.#waiting = new Map();
      for (let start = 0; start < all.length; start += batch) {
        // One query at a time: streams must not take the connections of calls.
        // oxlint-disable-next-line no-await-in-loop
        await this.#answer(all.slice(start, start + batch));
      }
    }
    this.#running = false;
  }

  /** Never rejects. */
  async #answer(asked: readonly Asked[]): Promise<void> {
    try {
      const columns = [0, 1, 2, 3, 4].map((column) => arrayLiteral(asked.map(({ question }) => question[column]!)));
      const rows = await inTime(this.#database.query(privilegesSql, columns));
      for (const [index, { resolve }] of asked.entries()) resolve(rows[index]?.[0] === 't');
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

function openQuestion(question: Question): Asked {
  let resolve!: Asked['resolve'];
  let reject!: Asked['reject'];
  const answer = new Promise<boolean>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  return { question, answer, resolve, reject };
}

function questionOf(role: string | null, { schema, name, table, parameters }: Endpoint): Question {
  if (table !== null) return [role, schema, name, '', table.operation.split(' ', 1)[0]!.toUpperCase()];
  return [role, schema, name, parameters.map(({ type }) => type.oid).join(' '), 'EXECUTE'];
}

/** @throws Problem 503 for an answer that does not come in time */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(new Problem('database-unavailable', { headers: ['retry-after', '1'] }));
    timer = setTimeout(refuse, patience);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
