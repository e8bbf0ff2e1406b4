import { fastify } from 'fastify';
const s = fastify(); 
let q = []; 
s.removeAllContentTypeParsers(); s.addContentTypeParser('application/json', { parseAs: 'string' }, (q, b, d) => d(null, JSON.parse(b)));
s.post('/plants', async (req, r) => { await new Promise((f) => { if (q.push(f) === 1) setImmediate(() => { const a = q; q = []; a.forEach((f) => f()); }); }); r.header('content-type','application/json; charset=utf-8'); return r.send(JSON.stringify({ name: req.body.name, tag: req.body.tag })); });
await s.listen({ port: 4555, host: '127.0.0.1' }); console.log('up');
