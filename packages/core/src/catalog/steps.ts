/** Work that yields after each step, so that its runner can answer requests between two of them. */
export type Steps<Product> = Generator<undefined, Product, undefined>;
