import { createPlantStoreClient, queryDefaults } from '@plant-store/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { LivePlants } from './live-plants.tsx';
import { Plants } from './plants.tsx';

const token = () => {
  const known = sessionStorage.getItem('token') ?? prompt('Access token') ?? '';
  if (known) sessionStorage.setItem('token', known); // The client calls `token` for each request.
  return known;
};
const store = createPlantStoreClient({ url: '', token });
const queryClient = new QueryClient({ defaultOptions: { queries: queryDefaults } });

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      {location.pathname === '/live' ? <LivePlants store={store} /> : <Plants store={store} />}
    </QueryClientProvider>,
  );
}
