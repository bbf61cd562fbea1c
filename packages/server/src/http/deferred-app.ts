/** Opens the HTTP application when it is needed: Fastify takes longer to load than the rest of the server. */
import type { Gateway } from '@pgway/core';
import { hasCors } from '../config/schema/http.ts';
import type { Configuration } from '../config/schema.ts';
import type { App, AppContext } from './app.ts';
import { type Handler, sendFailure } from './http-server.ts';

/**
 * Opens the application at once when its settings can be wrong or apply to every response, else for the first request that no endpoint
 * answers.
 * @throws ConfigurationError for settings that contradict each other
 */
export async function openApp(
  configuration: Configuration,
  gateway: Gateway,
  context: AppContext,
): Promise<Pick<App, 'handle' | 'close'>> {
  let opening: Promise<App> | null = null;
  const open = (): Promise<App> =>
    (opening ??= import('./app.ts').then(({ createApp }) => createApp(configuration, gateway, context)));
  const { cors, compression, securityHeaders, staticFiles } = configuration;
  const isNeeded = hasCors(cors) || compression.enabled || securityHeaders.enabled || staticFiles.root !== null;
  if (isNeeded) return open();
  const handleUnmatched: Handler = (request, response) => {
    open()
      .then((app) => app.handleUnmatched(request, response))
      .catch((error: Error) => {
        context.onError?.(error, request);
        sendFailure(response);
      });
  };
  return {
    handle: (request, response) => gateway.middleware(request, response, () => handleUnmatched(request, response)),
    close: async () => (await opening?.catch(() => null))?.close(),
  };
}
