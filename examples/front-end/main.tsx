import { createPlantStoreClient, queryDefaults } from '@plant-store/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Plants } from './plants.tsx';

const token = () => {
  const known = sessionStorage.getItem('token') ?? prompt('Access token') ?? '';
  // For each request, the client calls the function `token`.
  if (known) sessionStorage.setItem('token', known);
  return known;
};
const store = createPlantStoreClient({ url: '', token });
const queryClient = new QueryClient({ defaultOptions: { queries: queryDefaults } });

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <Plants store={store} />
    </QueryClientProvider>,
  );
}
