# frozen_string_literal: true

module Club
  # The list of members, as the page shows it.
  class MemberList
    def initialize(members)
      @members = members
    end

    def rows
      @members.sort_by(&:name).map { |member| [member.name, member.mail] }
    end
  end
end
