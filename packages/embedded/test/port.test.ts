import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { chooseAccount, openTo } from '../src/account.ts';
import { prepareBinaries } from '../src/binaries.ts';
import { ensureCluster } from '../src/cluster.ts';
import { findFreePort } from '../src/free-port.ts';
import { openHome } from '../src/home.ts';
import { launch } from '../src/launch.ts';
import { findPackage } from '../src/native-package.ts';
import { serverSettings } from '../src/server-settings.ts';
import { packageInUse, temporaryDirectory } from './support/directories.ts';

test('a port that somebody took since it was found free is tried no further', async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void squatter.close());
  const taken = (squatter.address() as { port: number }).port;
  const free = await findFreePort();
  const home = await openHome(await temporaryDirectory());
  const account = await chooseAccount(home);
  if (account !== undefined) await openTo(account, home);
  const progress: string[] = [];
  const report = (message: string): void => void progress.push(message);
  const binaries = await prepareBinaries({ pack: await findPackage(packageInUse), home, account, report });
  await ensureCluster({ home, binaries, account, durable: false, report: () => undefined });
  const ports = [taken, taken, free];

  const { server, port } = await launch({
    home,
    binaries,
    account,
    report,
    settings: serverSettings(false, undefined),
    nextPort: async () => ports.shift()!,
  });
  await server.stop();

  expect(port).toBe(free);
  expect(progress).toEqual(
    [taken, taken, free].map((tried) => `starting PostgreSQL ${binaries.version} on port ${String(tried)}`),
  );
});
