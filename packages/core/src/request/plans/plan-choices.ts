import type { Database, Statement } from '../../postgres/port.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { ExecutableCall } from '../build-query.ts';
import { type Clock, PlanChoice, type PlanCounts } from './plan-choice.ts';
import { mergeEndpoints, type PlanStatistics } from './plan-statistics.ts';

/** Statements of one database whose plans are chosen. Past it, the oldest choice is forgotten. */
const maxChoices = 10_000;

interface StatementChoice {
  readonly endpoint: Endpoint;
  readonly choice: PlanChoice;
}

/** A trial is one statement, whose rows are the response, or all that the response is made from. */
function canTryCustomQuery({ headerQuery, earlier, noRowProblem, settings }: ExecutableCall): boolean {
  const isPlain = headerQuery === null && earlier === undefined && noRowProblem === null;
  return isPlain && settings.every(([name]) => name !== 'plan_cache_mode');
}

/**
 * The choices for the statements of a gateway. Each database has its own ones: the same statement may need another plan on a replica, and on
 * the data of another tenant.
 */
export class PlanChoices {
  readonly #clock: Clock;
  readonly #counts: PlanCounts = {
    comparisons: { auto: 0, generic: 0, undecided: 0, exceeded: 0 },
    fallbacks: 0,
  };
  /** By the names of statements: clients choose the texts of some, which the choices must not retain. */
  readonly #databases = new Map<Database, Map<Statement['name'], StatementChoice>>();

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Returns the choice for the statement of a call; null when its plan is not chosen. */
  find(database: Database, call: ExecutableCall): PlanChoice | null {
    const { candidate, statement } = call;
    // The plan of an unnamed statement is made at each call, and the response of a trial is held in memory.
    if (!candidate.choosesPlans || statement.name === '' || !candidate.latency.isSmall) return null;
    if (candidate.queryBuilder !== null && !canTryCustomQuery(call)) return null;
    const known = this.#databases.get(database)?.get(statement.name);
    return known === undefined ? this.#add(database, candidate.endpoint, statement) : known.choice;
  }

  /** Forgets all choices: the endpoints and their statements are new. */
  clear(): void {
    this.#databases.clear();
  }

  statistics(): PlanStatistics {
    const statements = [...this.#databases.values()].flatMap((choices) => [...choices.values()]);
    const plans = statements.map(({ endpoint: { method, path }, choice: { isGeneric } }) => {
      return { method, path, auto: isGeneric ? 0 : 1, generic: isGeneric ? 1 : 0 };
    });
    const { comparisons, fallbacks } = this.#counts;
    return { endpoints: mergeEndpoints(plans), comparisons: { ...comparisons }, fallbacks };
  }

  #add(database: Database, endpoint: Endpoint, statement: Statement): PlanChoice {
    const choices = this.#databases.get(database) ?? new Map<Statement['name'], StatementChoice>();
    this.#databases.set(database, choices);
    const choice = new PlanChoice(this.#clock, this.#counts);
    choices.set(statement.name, { endpoint, choice });
    if (choices.size > maxChoices) choices.delete(choices.keys().next().value!);
    return choice;
  }
}
