import type { NewPlant } from '@plant-store/schemas';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ErrorAlert, explainError } from '../store.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type CheckedFile, checkFile, type Progress, sendPlants } from './import-file.ts';
import { CheckView, ChooseView, DoneView, ProgressView } from './views.tsx';

interface ImportPlantsProps {
  /** A file that the user has dropped on the page. */
  file: File | undefined;
  onShow(plants: readonly NewPlant[]): void;
  onClose(): void;
}

/** Imports a file in four steps: choose, check, import, done. */
export default function ImportPlants({ file: dropped, onShow, onClose }: ImportPlantsProps) {
  const [progress, setProgress] = useState<Progress>();
  const [running, setRunning] = useState<AbortController>();
  const check = useMutation({ mutationFn: (file: File) => checkFile(file) });
  const send = useMutation({
    mutationFn(checked: CheckedFile) {
      const controller = new AbortController();
      setRunning(controller);
      return sendPlants(checked, controller.signal, setProgress);
    },
  });
  const { mutate: read, data: checked, error: fileError } = check;
  useEffect(() => () => running?.abort(), [running]);
  useEffect(() => {
    // While an import runs, the browser asks before the user leaves the page.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    if (send.isPending) addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [send.isPending]);
  useEffect(() => {
    if (dropped) read(dropped);
  }, [dropped, read]);

  const again = () => {
    check.reset();
    send.reset();
    setProgress(undefined);
  };
  return (
    <Dialog place="side" title="Import" isBusy={send.isPending} onClose={onClose}>
      {fileError && (
        <p className="alert" role="alert">
          <bdi>{check.variables?.name}</bdi>: {explainError(fileError)}. Nothing was imported.
        </p>
      )}
      {check.isPending && <p role="status">Reading the file …</p>}
      {!checked && !check.isPending && <ChooseView onFile={read} />}
      {checked && send.isIdle && (
        <CheckView checked={checked} onImport={() => send.mutate(checked)} onAgain={again} />
      )}
      {checked && progress && send.isPending && (
        <ProgressView checked={checked} progress={progress} onStop={() => running?.abort()} />
      )}
      <ErrorAlert start="The import has stopped." error={send.error} />
      {checked && progress && !send.isIdle && !send.isPending && (
        <DoneView
          checked={checked}
          progress={progress}
          onShow={onShow}
          onAgain={again}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}
