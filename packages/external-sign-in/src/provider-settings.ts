import type { ExternalProviderOptions } from './options.ts';
import { defaultScope, type Preset, type PresetName, presetNames, presets } from './presets.ts';

/** The addresses of an OAuth 2 provider. */
export interface OAuthEndpoints {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userinfoEndpoint: string;
  readonly emailsEndpoint: string | null;
}

/** The options of a provider, with those of its preset. */
export interface ProviderSettings {
  readonly name: string;
  readonly label: string;
  readonly preset: PresetName | null;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly clientAuthentication: 'post' | 'basic';
  readonly issuer: string;
  readonly scope: string;
  /** Null: OpenID Connect, by discovery. */
  readonly endpoints: OAuthEndpoints | null;
  readonly authorizationParameters: Readonly<Record<string, string>>;
  readonly pkce: boolean;
  readonly nonce: boolean;
  readonly trustEmail: boolean;
}

/** @throws TypeError for options that are incomplete or contradict each other */
export function providerSettings(name: string, options: ExternalProviderOptions): ProviderSettings {
  const presetName = options.preset ?? (Object.hasOwn(presets, name) ? (name as PresetName) : null);
  const preset: Preset = presetName === null ? { ...noPreset, label: name } : presets[presetName];
  const endpoints = endpointsOf(name, options, preset);
  const { label, scope, pkce = true, nonce = true } = { ...preset, ...withoutUndefined(options) };
  const { clientId, clientSecret = null, clientAuthentication = 'post', trustEmail = false } = options;
  return {
    name,
    label,
    preset: presetName,
    clientId,
    clientSecret,
    clientAuthentication,
    issuer: issuerOf(name, options.issuer ?? preset.issuer, endpoints),
    scope,
    endpoints,
    authorizationParameters: options.authorizationParameters ?? {},
    pkce,
    nonce,
    trustEmail,
  };
}

const noPreset = { issuer: null, scope: defaultScope };

function withoutUndefined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

function issuerOf(name: string, issuer: string | null, endpoints: OAuthEndpoints | null): string {
  if (issuer === null && endpoints !== null) return new URL(endpoints.authorizationEndpoint).origin;
  if (issuer !== null) {
    requireSecureUrl(`${name}.issuer`, issuer);
    return issuer;
  }
  throw new TypeError(
    `${name}: set issuer, the address of an OpenID provider, or preset, one of ${presetNames.join(', ')}`,
  );
}

/** Returns null for an OpenID provider. */
function endpointsOf(name: string, options: ExternalProviderOptions, preset: Preset): OAuthEndpoints | null {
  const names = ['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint'] as const;
  const known = names.map((key) => options[key] ?? preset.endpoints?.[key] ?? null);
  const emailsEndpoint = options.emailsEndpoint ?? preset.endpoints?.emailsEndpoint ?? null;
  const missing = names.filter((_, index) => known[index] === null);
  if (missing.length === names.length && emailsEndpoint === null) return null;
  if (missing.length > 0) {
    throw new TypeError(`${name}: set ${missing.join(' and ')} too, or none of the endpoints for discovery`);
  }
  const [authorizationEndpoint, tokenEndpoint, userinfoEndpoint] = known as [string, string, string];
  const endpoints = { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, emailsEndpoint };
  for (const [key, url] of Object.entries(endpoints)) if (url !== null) requireSecureUrl(`${name}.${key}`, url);
  return endpoints;
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether the host of a URL is this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return loopbackHost.test(hostname);
}

/** @throws TypeError unless the text is a URL of https, or of http on this machine */
function requireSecureUrl(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url !== null && isSecure && url.username === '' && url.password === '' && url.hash === '') return;
  throw new TypeError(`${name}: must be a URL of https, or of http with a loopback address`);
}
