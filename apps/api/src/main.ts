import './quick-imports.ts';

// Loaded once the imports are quick.
await import('./start.ts');
