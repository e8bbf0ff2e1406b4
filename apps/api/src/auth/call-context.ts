import type { PlantStore } from '@plant-store/core';
import type { Context } from '@plant-store/core/router';
import type { FastifyRequest } from 'fastify';
import { toHttpError } from '../errors/http-error.ts';
import { startDeadline } from '../http/body/deadline.ts';
import { principalOf } from './authentication.ts';

/** The context for the procedures that a request calls, on every surface. */
export function callContext(store: PlantStore, request: FastifyRequest): Context {
  const deadline = startDeadline(request);
  return {
    store,
    principal: principalOf(request),
    deadline,
    caller: request,
    onError: (error) => request.server.logError(toHttpError(error), request),
  };
}
