import { emitWarning } from 'node:process';

/** An endpoint, as far as a host mounts it. */
interface Mounted {
  readonly path: string;
}

const isBelow = (path: string, prefix: string): boolean => path.startsWith(`${prefix}/`);

/** Warns of a prefix below which the plugin of Fastify answers nothing, as the paths of endpoints do not change. */
export function checkPluginPrefix(prefix: string, endpoints: readonly Mounted[]): void {
  const [first] = endpoints;
  if (prefix === '' || first === undefined || endpoints.some(({ path }) => isBelow(path, prefix))) return;
  emitWarning(
    `the plugin has the prefix "${prefix}", and no path of an endpoint begins with it, such as "${first.path}": register it without a prefix, or set the option urlPathPrefix of the gateway to "${prefix}"`,
    { code: 'PGWAY_MOUNT' },
  );
}

/**
 * Returns a function for requests without an endpoint. It warns once of a path of `app.use` that Express removes from URLs, and that the
 * paths of endpoints begin with, too.
 */
export function mountCheck(
  endpoints: () => readonly Mounted[],
): (request: { readonly url?: string | undefined; readonly originalUrl?: string }) => void {
  let hasWarned = false;
  return ({ url = '', originalUrl = url }) => {
    if (hasWarned || originalUrl === url || !originalUrl.endsWith(url)) return;
    const prefix = originalUrl.slice(0, originalUrl.length - url.length);
    const [path = ''] = originalUrl.split('?', 1);
    if (!endpoints().some((endpoint) => endpoint.path === path)) return;
    hasWarned = true;
    emitWarning(
      `the gateway is mounted at "${prefix}", which the host removes from URLs, so that "${path}" is at "${prefix}${path}": mount it without a path, as in app.use(gateway.middleware)`,
      { code: 'PGWAY_MOUNT' },
    );
  };
}
