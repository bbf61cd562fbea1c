import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stackOf } from '../stack-of.ts';

// Contravariant: any parameter type fits.
type Methods = Readonly<Record<string, (...argument: never) => Promise<unknown>>>;

/** A separate process, which handles one call at a time. */
export interface Child<M extends Methods> {
  call<Name extends keyof M>(method: Name, ...argument: Parameters<M[Name]>): Promise<Awaited<ReturnType<M[Name]>>>;
  close(): Promise<void>;
}

interface Reply {
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * @param module the compiled entry module in this folder, which calls `serve`
 * @param execArgv options of Node.js
 */
export function startChild<M extends Methods>(module: string, execArgv: readonly string[] = []): Child<M> {
  const entry = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(entry, { execArgv: [...execArgv], env: { ...process.env, NODE_ENV: 'production', TZ: 'UTC' } });
  const exited = once(child, 'exit');
  return {
    call: async (method, ...[argument]) => {
      const ended = exited.then((): [Reply] => [{ error: 'its process has ended' }]);
      child.send({ method, argument });
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply];
      if (reply.error !== undefined) throw new Error(`${module}, ${String(method)}: ${reply.error}`);
      return reply.result as never;
    },
    async close() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** Handles the calls of the parent process. The process ends when the parent disconnects or has ended. */
export function serve(methods: Methods): void {
  process.on('message', ({ method, argument }: { method: string; argument: unknown }) => {
    const run = methods[method] as (argument: unknown) => Promise<unknown>;
    run(argument).then(
      (result) => process.send?.({ result } satisfies Reply),
      (error: unknown) =>
        process.send?.({
          error: stackOf(error),
        } satisfies Reply),
    );
  });
  process.once('disconnect', () => process.exit());
  process.on('SIGINT', () => {});
}
