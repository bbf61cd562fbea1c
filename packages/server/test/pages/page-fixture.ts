/** The start page and the API docs page of a gateway, in Chromium. */
import { build } from '@pgway/testing';
import { createGateway, type Gateway } from '@pgway/core';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { createApiDocsHandler, createApiDocsPage } from '../../src/pages/api-docs.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { createSignInPage } from '../../src/pages/sign-in-page.ts';
import { createStartPage } from '../../src/pages/start-page.ts';
import { startHttpServer } from '../../src/start.ts';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';

export const hasChromium: boolean = chromiumPath !== undefined;

export interface OpenedPage {
  readonly page: Page;
  /** Errors of scripts, of the console, and violations of the content security policy. */
  readonly errors: readonly string[];
}

export interface StartPage {
  /** Opens the page in a new browser session. */
  open(options?: BrowserContextOptions & { readonly path?: string; readonly hash?: string }): Promise<OpenedPage>;
  readonly origin: string;
}

/** Serves the start page for the tests of a file. */
export function useStartPage(connectionString: () => string, sections: object): StartPage {
  const lifecycle = new Lifecycle();
  let origin = '';
  let browser: Browser | undefined;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    await build();
    const configuration = parseConfiguration({ port: 0, connectionString: connectionString(), ...sections });
    gateway = await createGateway(await gatewayOptions(configuration, connectionString(), {}));
    const { port } = await startHttpServer(lifecycle, configuration, gateway, {
      handlers: [createApiDocsHandler(configuration, connectionString())],
      pages: [
        createStartPage(configuration, 'postgres://localhost/shop'),
        createApiDocsPage(configuration, 'postgres://localhost/shop'),
        createSignInPage(configuration),
      ],
      certificates: null,
    });
    origin = `http://127.0.0.1:${port}`;
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await lifecycle.stop();
    await gateway?.close();
  });

  return {
    get origin() {
      return origin;
    },
    open: async ({ path = '/', hash = '', ...options } = {}) => {
      const context = await browser!.newContext(options);
      onTestFinished(() => context.close());
      await context.addInitScript(`
        addEventListener('securitypolicyviolation', ({ violatedDirective }) => console.error('violates ' + violatedDirective));`);
      context.setDefaultTimeout(stepTimeout);
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('dialog', (dialog) => errors.push(dialog.message()));
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          errors.push(message.text());
      });
      await page.goto(`${origin}${path}${hash}`);
      await page.locator('main').waitFor();
      return { page, errors };
    },
  };
}

/** Opens an endpoint by its operation id. Returns its element. */
export async function openEndpoint(page: Page, id: string): Promise<Locator> {
  const endpoint = endpointOf(page, id);
  await endpoint.locator('> summary').click();
  return endpoint;
}

export function endpointOf(page: Page, id: string): Locator {
  return page.locator(`#endpoint-${id}`);
}

/** Sends the form. Returns status and body, of this response: the earlier one stays on the page until then. */
export async function sendForm(endpoint: Locator): Promise<readonly [string, string]> {
  await endpoint
    .locator('.response')
    .evaluateAll((responses) => responses.forEach((response) => response.classList.add('earlier')));
  await endpoint.getByRole('button', { name: 'Send', exact: true }).click();
  const response = endpoint.locator('.response:not(.earlier)');
  const status = response.locator('.outcome .status');
  await status.waitFor();
  const body = response.locator('.body, > .note').first();
  return [await status.innerText(), (await body.count()) === 0 ? '' : await body.innerText()];
}
