/** Returns a comparison that puts the configured schemas first, in their order; without any, `public`. */
export function compareSchemas(configured: readonly string[] | null): (left: InSchema, right: InSchema) => number {
  const order = configured ?? ['public'];
  const rank = ({ schema }: InSchema): number => {
    const index = order.indexOf(schema);
    return index === -1 ? order.length : index;
  };
  return (left, right) => rank(left) - rank(right);
}

interface InSchema {
  readonly schema: string;
}
