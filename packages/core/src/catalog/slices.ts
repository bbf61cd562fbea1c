import type { Steps } from './steps.ts';

/** Milliseconds of work between two turns of the event loop. */
const sliceMs = 5;

/** Completes the work in slices, between which the event loop answers requests. */
export async function runInSlices<Product>(steps: Steps<Product>): Promise<Product> {
  let end = performance.now() + sliceMs;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await turn();
    end = performance.now() + sliceMs;
  }
}

/** Maps the items in order, one after the other, in slices. */
export async function mapInSlices<Item, Product>(
  items: Iterable<Item>,
  map: (item: Item) => Product | Promise<Product>,
): Promise<Product[]> {
  const products: Product[] = [];
  let end = performance.now() + sliceMs;
  for (const item of items) {
    const product = map(item);
    products.push(product instanceof Promise ? await product : product);
    if (performance.now() < end) continue;
    await turn();
    end = performance.now() + sliceMs;
  }
  return products;
}

/** Waits until the event loop has read its sockets. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
