import { Limiter } from "./limiter.js";

export function createGateway(handler, { perMinute = 120, burst = 10 } = {}) {
  const limiter = new Limiter({ perMinute, burst });
  setInterval(() => limiter.sweep(), 60_000).unref();
  return async (request) => {
    if (!limiter.allow(request.client)) {
      return { status: 429, headers: { "retry-after": String(Math.ceil(60 / perMinute)) } };
    }
    return handler(request);
  };
}
