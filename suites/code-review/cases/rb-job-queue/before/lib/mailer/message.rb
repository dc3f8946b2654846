# frozen_string_literal: true

module Mailer
  # A mail that is ready to be sent.
  Message = Struct.new(:to, :subject, :body, keyword_init: true)
end
