import './store/disable-zod-jit.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from 'react-error-boundary';
import { App } from './app.tsx';
import { CrashPage } from './layout/empty/crash-page.tsx';
import './layout/base.css';

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
