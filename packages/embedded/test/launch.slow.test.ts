import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findBinariesPackage, prepareBinaries } from '../src/binaries.ts';
import { ensureCluster } from '../src/cluster.ts';
import { openDataDirectory } from '../src/data-directory.ts';
import { commandLineSettings, findFreePort, launchServer } from '../src/launch.ts';
import { chooseOsUser, ensureAccess } from '../src/os-user.ts';
import { packageInUse, temporaryDirectory } from './support/directories.ts';
import { withoutDelays } from './support/start.ts';

test('another port is tried when one was taken after it was found free', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const taken = (other.address() as { port: number }).port;
  const free = await findFreePort();
  const directory = await openDataDirectory(await temporaryDirectory());
  const user = await chooseOsUser(directory.cluster);
  if (user !== undefined) await ensureAccess(directory.root, user);
  const progress: string[] = [];
  const report = withoutDelays((message) => void progress.push(message));
  const binaries = await prepareBinaries({
    package: await findBinariesPackage(packageInUse),
    directory,
    user,
    report,
  });
  await ensureCluster({ directory, binaries, user, durable: false, report: () => undefined });
  const ports = [taken, taken, free];

  const { server, port } = await launchServer({
    directory,
    binaries,
    user,
    report,
    settings: commandLineSettings(false),
    nextPort: async () => ports.shift()!,
  });
  await server.stop();

  expect(port).toBe(free);
  expect(progress).toEqual(
    [taken, taken, free].map((tried) => `starting PostgreSQL ${binaries.version} on port ${String(tried)}`),
  );
});
