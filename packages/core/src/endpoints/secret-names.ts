import type { Endpoint } from './endpoint.ts';

const secret = /pass|pwd|secret|token/i;

/** Whether a parameter of this name is masked in logs, whatever its endpoint. */
export function isSecretName(name: string): boolean {
  return secret.test(name);
}

/** Whether paths of this endpoint may contain secrets. */
export function hidesPath({ sensitive, parameters }: Endpoint): boolean {
  return sensitive || parameters.some(({ inPath, name }) => inPath && isSecretName(name));
}
