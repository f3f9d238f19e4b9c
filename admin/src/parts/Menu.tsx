import type { ReactNode } from "react";
import { Button, Menu as Inner, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon, type IconName } from "./Icon";
import "./dialog.css";

export interface Choice {
  id: string;
  label: string;
  icon?: IconName;
  note?: string;
  danger?: boolean;
  selected?: boolean;
  disabled?: boolean;
  run: () => void;
}

/** Milliseconds in which the focus has gone back to where it was, so that what is run may take it. */
export const untilClosed = 50;

/** A button that opens a list of things to do. */
export function Menu({ label, choices, children, className = "button quiet icon" }: {
  label: string;
  choices: Choice[];
  children?: ReactNode;
  className?: string;
}) {
  return (
    <MenuTrigger>
      <Button className={className} aria-label={children ? undefined : label}>{children ?? <Icon name="more" />}</Button>
      <Popover className="popover">
        <Inner className="menu" aria-label={label} items={choices} disabledKeys={choices.filter((each) => each.disabled).map((each) => each.id)}
          onAction={(key) => setTimeout(() => choices.find(({ id }) => id === key)?.run(), untilClosed)}>
          {(each) => (
            <MenuItem className={`menu-item${each.danger ? " danger" : ""}`} textValue={each.label}>
              {each.icon && <Icon name={each.icon} />}
              <span>{each.label}</span>
              {each.selected && <Icon name="check" />}
              {each.note && <span className="note">{each.note}</span>}
            </MenuItem>
          )}
        </Inner>
      </Popover>
    </MenuTrigger>
  );
}
