/**
 * The inbox: questions of all sessions, answered by mouse or by keys.
 */
import { useState } from 'react';
import { useConsole } from '../parts/console.tsx';
import { Button, Empty, ViewHead } from '../parts/controls.tsx';
import { useKeys, useWatched } from '../parts/hooks.ts';
import { Icon } from '../parts/icons.tsx';
import { QuestionCard } from '../parts/question-card.tsx';
import { TEXTS } from '../texts.ts';

/** Questions that are drawn; answered ones make room for the rest. */
const MAX_SHOWN = 50;

/** The inbox. */
export function QuestionsView() {
  const { inbox } = useConsole();
  const { questions, isLoaded } = useWatched(inbox.state);
  const [chosenId, setChosenId] = useState<string>();
  const found = questions.findIndex(({ request_id: id }) => id === chosenId);
  const chosen = Math.max(0, found);
  const move = (step: number) => {
    const next = questions[Math.min(questions.length - 1, Math.max(0, chosen + step))];
    setChosenId(next?.request_id);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <div className="page questions">
      <ViewHead title={TEXTS.questions.title}>
        <Notify />
      </ViewHead>
      {isLoaded && questions.length === 0 && (
        <Empty title={TEXTS.questions.empty} icon="ok">
          {TEXTS.questions.emptyHelp}
        </Empty>
      )}
      {questions.length > 0 && (
        <p className="muted questions-keys">
          <Icon name="keyboard" /> {TEXTS.questions.keys}
        </p>
      )}
      {questions.slice(0, MAX_SHOWN).map((question, index) => (
        <QuestionCard
          key={question.request_id}
          question={question}
          isChosen={index === chosen}
          onChoose={() => setChosenId(question.request_id)}
        />
      ))}
    </div>
  );
}

/** Asks the browser for notifications, once a person wants them. */
function Notify() {
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : 'denied'));
  if (permission === 'granted') return null;
  if (permission === 'denied') return <p className="muted">{TEXTS.questions.notifyBlocked}</p>;
  return (
    <Button
      icon="bell"
      title={TEXTS.questions.notifyHelp}
      onClick={() => void Notification.requestPermission().then(setPermission, () => setPermission('denied'))}
    >
      {TEXTS.questions.notify}
    </Button>
  );
}
