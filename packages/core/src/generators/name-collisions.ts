import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { NamedEndpoint } from './naming.ts';
import { plainLine, shown } from './text.ts';

/** A warning for each endpoint whose name has a number because another endpoint has the name without it. */
export function nameCollisions(named: readonly NamedEndpoint[]): readonly Diagnostic[] {
  return named.flatMap(({ endpoint, name, collidesWith }) =>
    collidesWith === null ? [] : [collision(endpoint, `${requestOf(endpoint)} is called ${shown(name)}`, collidesWith)],
  );
}

/** @param what what is called otherwise than it would be without the other endpoint */
export function collision(endpoint: Endpoint, what: string, other: Endpoint): Diagnostic {
  return {
    severity: 'warning',
    code: 'name-collision',
    routine: endpoint.id,
    line: null,
    message:
      `${what} by generated clients and documents, because ${plainLine(other.id)} (${requestOf(other)}) has the name ` +
      'without the number; give one of them another path to choose the names yourself',
  };
}

function requestOf({ method, path }: Endpoint): string {
  return `${method} ${plainLine(path)}`;
}
