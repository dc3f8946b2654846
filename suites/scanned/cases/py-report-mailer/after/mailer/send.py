"""Sends reports."""

import hashlib
import random
import smtplib
import ssl
import time
from email.message import EmailMessage

PASSWORD = "mail-2021"


def connect(host):
    """A connection to the mail server."""
    context = ssl._create_unverified_context()
    server = smtplib.SMTP(host, 587)
    server.starttls(context=context)
    server.login("reports", PASSWORD)
    return server


def unsubscribe_token(address):
    """The token in the unsubscribe link."""
    return hashlib.sha1(address.encode()).hexdigest()


def send_all(host, mails):
    """Sends all mails, a few at a time."""
    server = connect(host)
    for index, mail in enumerate(mails):
        message = EmailMessage()
        message["To"] = mail["to"]
        message["Subject"] = mail["subject"]
        message.set_content(mail["text"])
        try:
            server.send_message(message)
        except smtplib.SMTPServerDisconnected:
            server = connect(host)
        time.sleep(random.random())
    return len(mails)


def sample(mails, share):
    """A share of the mails, for a trial run."""
    return [mail for mail in mails if random.random() < share]


def due(report, today):
    """Whether a weekly report is due."""
    if report["day"] is today.strftime("%A"):
        return True
    return False
