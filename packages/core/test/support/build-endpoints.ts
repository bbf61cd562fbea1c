import * as product from '../../src/endpoints/build-endpoints.ts';

/** Builds the endpoints of routines at once. */
export function buildEndpoints(...input: Parameters<typeof product.buildEndpoints>): product.EndpointPlan {
  const steps = product.buildEndpoints(...input);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
