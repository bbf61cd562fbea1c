import type { TestGateway } from '@pgway/testing';
import { skipTime } from '../database/support.ts';

/** Sends requests one after the other; returns the members `mode` of their first rows. */
export async function modesOf(
  { send }: Pick<TestGateway, 'send'>,
  count: number,
  path: (index: number) => string,
): Promise<readonly string[]> {
  const modes: string[] = [];
  for (let index = 0; index < count; index++) {
    const { status, body } = await send(`GET ${path(index)}`);
    if (status !== 200) throw new Error(`${status} ${body}`);
    modes.push((JSON.parse(body) as readonly { readonly mode: string }[])[0]!.mode);
  }
  return modes;
}

export function count<Value>(values: readonly Value[], value: Value): number {
  return values.filter((other) => other === value).length;
}

/** Rounds of ten calls until the next hour: on a busy machine trials may decide for the other mode, and are repeated later. */
const roundsPerHour = 50;

/** Sends requests until the calls of a path run with this mode. */
export async function untilMode(
  gateway: Pick<TestGateway, 'send'>,
  mode: string,
  path: (index: number) => string,
): Promise<void> {
  for (let round = 0; round < 500; round++) {
    const modes = await modesOf(gateway, 10, path);
    // Trials of the other mode run at most once among four calls.
    if (modes.slice(-3).every((other) => other === mode)) return;
    if (round % roundsPerHour === roundsPerHour - 1) skipTime(3_600_000);
  }
  throw new Error(`no call ran with ${mode}`);
}
