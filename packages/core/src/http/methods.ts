/** The methods of requests that endpoints answer, in the order of lists. `OPTIONS` is answered for every path. */
export const requestMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'] as const;

/**
 * The method of requests that only read and have their parameters in the body (RFC 10008). It is not a method of endpoints: those of GET
 * answer it.
 */
export const queryMethod = 'QUERY';

/** The media types of its bodies, as `Accept-Query` lists them: members of an object, or a query string. */
export const queryMediaTypes: readonly string[] = ['application/json', 'application/x-www-form-urlencoded'];
