# frozen_string_literal: true

module Statements
  # A line of a bank's statement.
  Entry = Struct.new(:account, :cents, :text, keyword_init: true)
end
