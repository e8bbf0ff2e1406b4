import './store/disable-zod-jit.ts';
import './layout/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from 'react-error-boundary';
import { App } from './app.tsx';
import { CrashPage } from './layout/empty/crash-page.tsx';

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary FallbackComponent={CrashPage}>
        <App />
      </ErrorBoundary>
    </StrictMode>,
  );
}
