import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { leaveKeysToInputMethod } from "./app/inputMethod";
import { takeMailedToken } from "./app/mailedToken";
import { wearLast } from "./app/theme";
import "./base.css";

takeMailedToken();
leaveKeysToInputMethod();
wearLast();
createRoot(document.getElementById("app")!).render(<StrictMode><App /></StrictMode>);
