import { formatJson } from '@plant-store/schemas';
import type { FastifyReply } from 'fastify';
import { jsonHeaders } from '../errors/error-response.ts';

/** Sends a value as `application/json`, without Fastify's charset parameter (RFC 8259 §11). */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJsonText(reply, formatJson(value));
}

export function sendJsonText(reply: FastifyReply, json: string): FastifyReply {
  return reply.headers(jsonHeaders).serializer(String).send(json);
}
