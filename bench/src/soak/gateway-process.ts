import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface GatewaySettings {
  readonly connectionString: string;
  readonly pool: number;
  readonly pooler: 'session' | 'transaction';
  readonly preparedStatements: boolean;
  readonly anonymousRole: string;
}

/** The gateway's `slowClientTimeout`. */
export const slowClientTimeoutSeconds = 4;

export type GatewayCommand =
  | { readonly kind: 'start'; readonly settings: GatewaySettings }
  | { readonly kind: 'memory' };

/** Bytes after a garbage collection. */
export interface Memory {
  readonly rss: number;
  /** The JavaScript heap and the buffers outside it. */
  readonly heap: number;
}

export type FromGateway =
  | { readonly kind: 'started'; readonly port: number }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | ({ readonly kind: 'memory' } & Memory);

/** A gateway in a separate process, behind `node:http` on 127.0.0.1. */
export interface GatewayProcess {
  readonly origin: string;
  /** The causes of unexpected responses, such as 500; limited. */
  readonly errors: readonly string[];
  /** Resolves to null when the process has ended. */
  memory(): Promise<Memory | null>;
  /** Returns the exit code; null when it was killed. */
  close(): Promise<number | null>;
}

const entry = fileURLToPath(new URL('gateway-child.js', import.meta.url));

export async function startGatewayProcess(settings: GatewaySettings): Promise<GatewayProcess> {
  const child = fork(entry, { execArgv: ['--expose-gc'], env: { ...process.env, NODE_ENV: 'production', TZ: 'UTC' } });
  const exited = once(child, 'exit');
  const errors: string[] = [];
  child.on('message', (message: FromGateway) => void (message.kind === 'error' && errors.push(message.text)));
  const close = async (): Promise<number | null> => {
    if (child.connected) child.disconnect();
    const [code] = (await exited) as [number | null];
    return code;
  };
  child.send({ kind: 'start', settings } satisfies GatewayCommand);
  const message = await nextMessage(child, ['started', 'failed']);
  if (message?.kind !== 'started') {
    await close();
    throw new Error(
      `the gateway did not start: ${message?.kind === 'failed' ? message.text : 'its process has ended'}`,
    );
  }
  return {
    origin: `http://127.0.0.1:${message.port}`,
    errors,
    async memory() {
      if (!child.connected) return null;
      child.send({ kind: 'memory' } satisfies GatewayCommand);
      const memory = await nextMessage(child, ['memory']);
      return memory?.kind === 'memory' ? { rss: memory.rss, heap: memory.heap } : null;
    },
    close,
  };
}

/** Resolves with the next message of these kinds; null when the process ends first. */
function nextMessage(child: ChildProcess, kinds: readonly FromGateway['kind'][]): Promise<FromGateway | null> {
  return new Promise((resolve) => {
    const onExit = (): void => finish(null);
    const received = (message: FromGateway): void => void (kinds.includes(message.kind) && finish(message));
    const finish = (message: FromGateway | null): void => {
      child.off('message', received).off('exit', onExit);
      resolve(message);
    };
    child.on('message', received).once('exit', onExit);
  });
}
