import { setTimeout as pause } from 'node:timers/promises';

import { HttpConnection } from './http-connection.ts';
import type { BenchResponse, Work } from './works/work.ts';
import { toError } from '@pgway/core/internal';

/** The result of requests with different arguments, on many connections at once. */
export interface AnswerCount {
  readonly checked: number;
  /** Responses that do not belong to their request, or have other values. */
  readonly wrong: number;
  /** Responses with a status from 400 on, and lost connections. */
  readonly failed: number;
  /** The first wrong or failed one. */
  readonly example: string | null;
}

export interface AnswerCheck {
  /** The URL of the endpoints, without a slash at the end. */
  readonly base: string;
  readonly work: Work;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

const pauseAfterErrorMs = 10;
const maxExampleLength = 300;

/** Throws unless the response to the typical request is right. */
export async function checkOnce(base: string, work: Work): Promise<void> {
  const connection = new HttpConnection(base);
  try {
    work.verify(await connection.send(work.request(0)), 0);
  } catch (error) {
    throw new Error(`${work.name}: ${describe(error)}`, { cause: error });
  } finally {
    await connection.close();
  }
}

/** Compares every response with the one that its request has to get. */
export async function checkAnswers(check: AnswerCheck): Promise<AnswerCount> {
  const { base, work, signal } = check;
  const count = { checked: 0, wrong: 0, failed: 0, example: null as string | null };
  const verify = verifier(work);
  const deadline = performance.now() + check.seconds * 1000;
  let next = 1;
  const runConnection = async (): Promise<void> => {
    const connection = new HttpConnection(base);
    while (performance.now() < deadline && !signal.aborted) {
      const number = next++;
      // A connection sends its requests one by one.
      const response = await connection.send(work.request(number)).catch((error: unknown) => describe(error));
      count.checked++;
      const problem = typeof response === 'string' ? response : verify(response, number);
      if (problem === null) continue;
      count[typeof response === 'string' || response.status >= 400 ? 'failed' : 'wrong']++;
      count.example ??= `${work.request(number).path}: ${problem}`;
      if (typeof response === 'string') await pause(pauseAfterErrorMs);
    }
    await connection.close();
  };
  await Promise.all(Array.from({ length: check.connections }, runConnection));
  signal.throwIfAborted();
  return count;
}

/**
 * Returns a function that tells what is wrong with a response, or null. A body with the bytes of a correct response to the same request
 * is not parsed again.
 */
function verifier(work: Work): (response: BenchResponse, number: number) => string | null {
  const maxKnown = 2000;
  const known = new Map<string, Buffer>();
  return (response, number) => {
    const { path, body } = work.request(number);
    const key = `${path} ${body}`;
    if (response.status < 400 && known.get(key)?.equals(response.body) === true) return null;
    try {
      work.verify(response, number);
    } catch (error) {
      return describe(error);
    }
    if (known.size < maxKnown) known.set(key, response.body);
    return null;
  };
}

function describe(error: unknown): string {
  return toError(error).message.replaceAll(/\s+/g, ' ').slice(0, maxExampleLength);
}
