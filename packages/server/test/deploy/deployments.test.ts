/** Rules for the files of `deploy` that concern several of them and the server: limits, paths, images, secrets. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../src/config/schema.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { timeouts } from '../../src/start.ts';
import { loadFrom } from '../support/configuration.ts';
import { describe, expect, test } from 'vitest';
import { checkoutFiles, deployText, deployYaml, root } from './deploy-files.ts';
import { readStages } from './dockerfile.ts';

const defaults = parseConfiguration({});

/** Loads the configuration of a deployment with its example of secrets, as the server does. */
async function configurationOf(folder: string): Promise<Configuration> {
  const directory = join(root, 'deploy', folder);
  const secrets = readdirSync(directory).includes('secrets.example.json') ? ['secrets.example.json'] : [];
  const files = ['pgway.json', ...secrets].map((name) => `--config=${join(directory, name)}`);
  return (await loadFrom(directory, { arguments: files })).configuration;
}

/** The longest time that a stop takes, in seconds, after the limits of `start.ts` and `workers/primary.ts`. */
function longestStop({
  shutdownDelay,
  workers,
}: {
  readonly shutdownDelay: number;
  readonly workers: unknown;
}): number {
  const { drain, stopGateway, stopLog, startServer } = timeouts;
  const single = drain + 2000 + stopGateway + stopLog;
  const ofWorkers = workers === 1 ? 0 : stopLog + startServer + 2000 + stopLog;
  return shutdownDelay + (single + ofWorkers) / 1000;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly timeoutSeconds?: number;
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly [
    {
      readonly image: string;
      readonly args: readonly string[];
      readonly startupProbe: Probe;
      readonly livenessProbe: Probe;
      readonly readinessProbe: Probe;
      readonly securityContext: object;
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly resources: { readonly limits: { readonly memory: string } };
    },
  ];
}
interface Deployment {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}
interface Service {
  readonly image: string;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly secrets?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } };
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
}

const pod = deployYaml<Deployment>('kubernetes/deployment.yaml')[0]!.spec.template.spec;
const [container] = pod.containers;
const [compose] = deployYaml<Compose>('compose/compose.yaml') as [Compose];

describe('Kubernetes', () => {
  test('probes ask the health checks of the server', async () => {
    const { health, port, shutdownDelay, gateway } = await configurationOf('kubernetes');
    const { startupProbe, livenessProbe, readinessProbe } = container;
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe.httpGet)).toEqual([
      { path: `${health.path}/live`, port: 'http' },
      { path: `${health.path}/live`, port: 'http' },
      { path: `${health.path}/ready`, port: 'http' },
    ]);
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }]);
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(gateway.startRetry + 30);
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(1);
    // A pod that stops is left out before it stops to accept connections.
    const noticed = (readinessProbe.periodSeconds + readinessProbe.timeoutSeconds!) * readinessProbe.failureThreshold;
    expect(noticed).toBeLessThan(shutdownDelay);
  });

  test('a stop has the time that it needs', async () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longestStop(await configurationOf('kubernetes')));
  });

  test('the pod has no privilege', () => {
    expect([pod.securityContext, container.securityContext]).toEqual([
      {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    ]);
    const user = readStages(deployText('docker/Dockerfile'))
      .at(-1)!
      .instructions.find(({ keyword }) => keyword === 'USER');
    expect(user?.text).toBe('1000:1000');
  });

  test('the number of connections in the comment is that of the pool and of the autoscaler', async () => {
    const [autoscaler] = deployYaml<{ spec: { minReplicas: number; maxReplicas: number } }>(
      'kubernetes/autoscaler.yaml',
    );
    const { minReplicas, maxReplicas } = autoscaler!.spec;
    const poolSize = (await configurationOf('kubernetes')).gateway.poolSize!;
    const sum = `${maxReplicas} (maxReplicas) × (${poolSize} + 2 for LISTEN and health checks) = ${maxReplicas * (poolSize + 2)}`;
    expect(deployText('kubernetes/pgway.json')).toContain(sum);
    expect(minReplicas).toBeGreaterThan(1);
  });

  test('kustomization.yaml lists every manifest, and every selector has the label of the pods', () => {
    const [kustomization] = deployYaml<{ resources: string[]; configMapGenerator: { files: string[] }[] }>(
      'kubernetes/kustomization.yaml',
    );
    const files = readdirSync(join(root, 'deploy/kubernetes')).filter((name) => name.endsWith('.yaml'));
    expect(kustomization!.resources.toSorted()).toEqual(
      files.filter((name) => name !== 'kustomization.yaml').toSorted(),
    );
    expect(kustomization!.configMapGenerator.flatMap(({ files: names }) => names)).toEqual(['pgway.json']);
    for (const name of kustomization!.resources) {
      const selectors = [...deployText(`kubernetes/${name}`).matchAll(/app\.kubernetes\.io\/component: (.*)/g)];
      expect([name, ...new Set(selectors.map(([, value]) => value))].slice(1)).toEqual(
        selectors.length === 0 ? [] : ['gateway'],
      );
    }
  });

  test('metrics are not reachable through the ingress', async () => {
    const [ingress] = deployYaml<{
      spec: { rules: { http: { paths: { path: string; pathType: string }[] } }[] };
    }>('kubernetes/ingress.yaml');
    const { gateway, metrics } = await configurationOf('kubernetes');
    const paths = ingress!.spec.rules.flatMap(({ http }) => http.paths);
    expect(paths).toMatchObject([{ path: gateway.urlPathPrefix, pathType: 'Prefix' }]);
    expect([metrics.access, metrics.path?.startsWith(`${gateway.urlPathPrefix}/`)]).toEqual(['always', false]);
  });
});

describe('compose', () => {
  const services = Object.entries(compose.services);

  test.each(services)(
    '%s has limits, a health check and a restart policy, and starts after what it needs',
    (name, service) => {
      expect(service.restart).toBe('unless-stopped');
      expect(service.deploy?.resources.limits.memory).toMatch(/^\d+[MG]$/);
      expect(service.healthcheck !== undefined || service.build !== undefined).toBe(true);
      for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect([name, compose.services[needed] !== undefined, condition]).toEqual([name, true, 'service_healthy']);
      }
      expect(service.ports === undefined || name === 'proxy').toBe(true);
      for (const [variable, value] of Object.entries(service.environment ?? {})) {
        const isSecret = /password|secret|key|token/i.test(variable) && !variable.endsWith('_FILE');
        expect([variable, isSecret, /:\/\/[^/]*:[^/]*@/.test(value)]).toEqual([variable, false, false]);
      }
    },
  );

  test('files exist; secrets are those that the script writes', () => {
    const folder = join(root, 'deploy/compose');
    for (const { file } of Object.values(compose.configs)) {
      expect(checkoutFiles('deploy')).toContain(join(folder, file).slice(root.length));
    }
    for (const { file } of Object.values(compose.secrets)) {
      expect(deployText('compose/create-secrets.sh')).toContain(`>${file.slice(2)}`);
    }
    expect(deployText('../.gitignore')).toContain('deploy/compose/secrets/');
  });

  test('a stop has the time that it needs, and the proxy notices it before', async () => {
    const configuration = await configurationOf('compose');
    for (const name of ['gateway-1', 'gateway-2']) {
      const seconds = Number.parseInt(compose.services[name]!.stop_grace_period!, 10);
      expect(seconds).toBeGreaterThan(longestStop(configuration));
    }
    const [, interval, failures] = /check inter (\d+)s fall (\d+)/.exec(deployText('haproxy/haproxy.cfg'))!;
    const notice = Number(interval) * (Number(failures) + 1);
    expect(notice).toBeLessThan(configuration.shutdownDelay);
  });

  test('the pools of the gateways fit into PgBouncer, and its connections into PostgreSQL', async () => {
    const { gateway } = await configurationOf('compose');
    const setting = (name: string): number =>
      Number(new RegExp(`^${name} = (\\d+)$`, 'm').exec(deployText('compose/pgbouncer.ini'))![1]);
    expect(2 * gateway.poolSize!).toBeLessThan(setting('max_client_conn'));
    expect(gateway.pooler).toBe(/^pool_mode = (.*)$/m.exec(deployText('compose/pgbouncer.ini'))![1]);
    expect(setting('query_wait_timeout')).toBeGreaterThan(gateway.acquireTimeout);
    expect(setting('default_pool_size') + 20).toBeLessThan(100);
  });
});

describe('systemd', () => {
  const unit = deployText('systemd/pgway.service');

  test('a stop has the time that it needs', async () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
    expect(seconds).toBeGreaterThan(longestStop(await configurationOf('systemd')));
  });

  test('folders of the configuration can be written', async () => {
    const { dataProtection } = await configurationOf('systemd');
    expect(dataProtection.folder).toMatch(/^\/var\/lib\/pgway\//);
    expect(unit).toContain('\nStateDirectory=pgway\n');
  });
});

describe('reverse proxies', () => {
  const nginx = deployText('nginx/pgway.conf');
  const haproxy = deployText('haproxy/haproxy.cfg');
  const seconds = (text: string, name: string): number => Number(new RegExp(`(?<!_)\\b${name} (\\d+)s`).exec(text)![1]);

  test('they wait longer than a call and than two heartbeats of an event stream', () => {
    for (const limit of [seconds(nginx, 'proxy_read_timeout'), seconds(haproxy, 'timeout server')]) {
      expect(limit).toBeGreaterThan(30);
      expect(limit).toBeGreaterThan(2 * defaults.events.heartbeat);
    }
  });

  test('they close unused connections before the server does', () => {
    const upstream = seconds(/upstream pgway \{[^}]*\}/.exec(nginx.replaceAll(/#.*/g, ''))![0], 'keepalive_timeout');
    expect(upstream).toBeLessThan(defaults.limits.keepAliveTimeout);
    expect(seconds(haproxy, 'pool-purge-delay') * 2).toBeLessThan(defaults.limits.keepAliveTimeout);
  });

  test('the server refuses what is too large, not the proxy', () => {
    const mebibytes = Number(/client_max_body_size (\d+)m/.exec(nginx)![1]);
    expect(mebibytes * 2 ** 20 - defaults.uploadOptions.maxTotalSize).toBe(2 ** 20);
    expect(deployText('kubernetes/ingress.yaml')).toContain(`proxy-body-size: ${mebibytes}m`);
    expect(nginx).toContain(`large_client_header_buffers 4 ${defaults.limits.maxHeaderSize / 1024}k;`);
    const buffer = Number(/tune\.bufsize (\d+)/.exec(haproxy)![1]);
    expect(buffer - 1024).toBeGreaterThan(defaults.limits.maxHeaderSize);
  });

  test('they replace every header that tells the address of a client', () => {
    expect(nginx).toMatch(/X-Forwarded-For \$remote_addr;[^]*Forwarded "";/);
    expect(haproxy).toMatch(/set-header X-Forwarded-For %\[src\][^]*del-header Forwarded/);
    expect([haproxy, nginx].filter((text) => /add_x_forwarded_for|option forwardfor/.test(text))).toEqual([]);
  });
});

test.each(['compose', 'kubernetes', 'systemd'])(
  'the configuration of %s is valid and says whom it trusts',
  async (folder) => {
    const { authentication, shutdownDelay } = await configurationOf(folder);
    expect(authentication.trustedProxies.length).toBeGreaterThan(0);
    expect(shutdownDelay).toBeGreaterThan(0);
  },
);

test('every image has a version as its tag', () => {
  const yaml = checkoutFiles('deploy').filter((name) => name.endsWith('.yaml'));
  const images = yaml.flatMap((name) =>
    [...deployText(name.slice('deploy/'.length)).matchAll(/^\s*(?:- )?image: (.*)$/gm)].map(([, image]) => image!),
  );
  expect(images.length).toBeGreaterThan(4);
  expect(images.filter((image) => !/:v?\d[\w.-]*$/.test(image))).toEqual([]);
});

test('no file holds a password, a key or a token', () => {
  const secrets = checkoutFiles('deploy').flatMap((name) => {
    const text = deployText(name.slice('deploy/'.length));
    const inUrls = [...text.matchAll(/:\/\/[^\s/:@]*:(?![<$%])([^\s/@]+)@/g)];
    const values = [...text.matchAll(/"(?:secret|password|token)": "(?![<$])/g)];
    return [...inUrls, ...values, ...text.matchAll(/PRIVATE KEY/g)].map((match) => `${name}: ${match[0]}`);
  });
  expect(secrets).toEqual([]);
});
