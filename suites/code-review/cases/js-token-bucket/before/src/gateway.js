import { Limiter } from "./limiter.js";

export function createGateway(handler, { perMinute = 120 } = {}) {
  const limiter = new Limiter({ perMinute });
  return async (request) => {
    if (!limiter.allow(request.client)) {
      return { status: 429, headers: { "retry-after": "60" } };
    }
    return handler(request);
  };
}
