import { onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createTestProcess, type TestProcess } from './process-context.ts';

/** The program `pgway` in this process. */
export interface RunningServer {
  /** The printed URL; the errors of a program that has ended instead. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly streams: TestProcess;
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  /** Stops the server and waits for its end. */
  readonly stop: () => Promise<number>;
}

/** Runs the program with the configuration file of the folder until the end of the test, and waits until it serves or has ended. */
export async function runServer(folder: string, ...argv: readonly string[]): Promise<RunningServer> {
  const streams = createTestProcess(folder);
  const ended = run(argv, {}, streams);
  onTestFinished(async () => {
    streams.sendStop('forced');
    await ended;
  });
  const ready = /https?:\/\/[\w.:]+/;
  await Promise.race([streams.until(ready), ended]);
  const url = ready.exec(streams.text.stdout)?.[0] ?? streams.text.stderr;
  const stop = (): Promise<number> => {
    streams.sendStop('graceful');
    return ended;
  };
  return { url, port: Number(/\d+$/.exec(url)?.[0]), folder, streams, ended, stop };
}
