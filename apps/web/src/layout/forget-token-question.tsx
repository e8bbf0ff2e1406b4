import { Question } from '../controls/question.tsx';
import { useSharedState } from '../controls/shared-state.ts';
import { isActive } from '../import/file-import.ts';
import type { Imports } from '../import/imports.ts';
import { FileNames } from '../import/views/file-names.tsx';

interface ForgetTokenQuestionProps {
  imports: Imports;
  isExporting: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before the console forgets the token. Without a token, running imports and exports stop. */
export function ForgetTokenQuestion(props: ForgetTokenQuestionProps) {
  const { imports, isExporting, ...rest } = props;
  const importing = useSharedState(imports.list).filter(isActive);
  const stops = isExporting || importing.length > 0;
  return (
    <Question
      title="Forget the token?"
      text={
        <>
          {importing.length > 0 && (
            <>
              Without the token, the import of <FileNames imports={importing} /> stops. Plants that
              are already added stay in the store.{' '}
            </>
          )}
          {isExporting && 'The export stops, and no file is saved. '}
          You need the token to open the console in this tab again.
        </>
      }
      confirm={stops ? 'Stop and forget the token' : 'Forget token'}
      {...rest}
    />
  );
}
