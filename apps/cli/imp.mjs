const { startFast } = await import('@plant-store/fast-start');
startFast();
for (const m of process.argv.slice(2)) await import(m);
