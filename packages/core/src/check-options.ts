import type { Options } from './options.ts';
import { StartError } from './start-error.ts';

/** An SQLSTATE, or the class that one begins with. */
const sqlstateOrClass = /^[0-9A-Z]{2}(?:[0-9A-Z]{3})?$/;

/**
 * What only the first request that meets it would find out, too late to say so.
 * @throws StartError
 */
export function checkOptions({ postgreSqlErrorCodeToHttpStatusCodeMapping: statuses }: Options): void {
  for (const [code, status] of Object.entries(statuses)) {
    const option = `postgreSqlErrorCodeToHttpStatusCodeMapping: ${JSON.stringify(code)}`;
    if (!sqlstateOrClass.test(code)) {
      throw new StartError(`${option} is neither an SQLSTATE of five characters nor a class of two`);
    }
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new StartError(
        `${option} cannot be answered with ${JSON.stringify(status)}: give a status from 200 to 599`,
      );
    }
  }
}
