import { fastify } from 'fastify';
const s = fastify(); 
s.removeAllContentTypeParsers(); s.addContentTypeParser('application/json', { parseAs: 'string' }, (q, b, d) => d(null, JSON.parse(b)));
s.post('/plants', (q, r) => { r.header('content-type','application/json; charset=utf-8'); r.send(JSON.stringify({ name: q.body.name, tag: q.body.tag })); });
await s.listen({ port: 4555, host: '127.0.0.1' }); console.log('up');
